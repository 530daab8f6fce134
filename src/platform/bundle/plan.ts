import path from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { canonicalJson, toJson } from '../../base/json.ts';
import { bundleChanges, type BundleChange } from '../../assembly/bundle-changes.ts';
import { isCold } from '../../assembly/cache.ts';
import { consequence, sumOf, type Consequence, type Pricing } from '../../assembly/consequence.ts';
import { effectiveAgentOf } from '../../assembly/effective.ts';
import type { Conversation } from '../../domain/conversation.ts';
import type { EffectiveAgent } from '../../domain/agent.ts';
import { emptySelection } from '../../domain/selection.ts';
import type { ConversationRow, Log } from '../../kernel/log.ts';
import { read } from '../../loop/drive.ts';
import { Money } from '../../adapters/prices/money.ts';
import type { Plugin } from '../../kernel/plugin.ts';
import { toolApproval } from '../../plugins/gates/tool-approval.ts';
import { toolFilter } from '../../plugins/gates/tool-filter.ts';
import type { LoadedBundle } from './load.ts';
import { stanceInWords, toolStances } from '../grant/tool-stances.ts';

/** What an edit of a bundle does, before anybody runs it. */
export interface BundlePlan {
  /** Of the whole bundle: agents, gates and other plugins. */
  readonly changes: readonly BundleChange[];
  readonly agents: readonly AgentPlan[];
}

export interface AgentPlan {
  readonly agent: string;
  readonly changes: readonly BundleChange[];
  /** Conversations that were used within the last hour. */
  readonly active: number;
  /** Of these, those whose prompt is warm now and would be cold. */
  readonly cold: number;
  /** What it costs them together. */
  readonly consequence: Consequence;
}

export interface PlanOptions {
  readonly before: LoadedBundle;
  readonly after: LoadedBundle;
  /** All plugins that the bundles may activate. */
  readonly known: readonly Plugin[];
  /** Where runs of the bundle are; nobody is asked about when absent. */
  readonly log?: Log | undefined;
  readonly clock: Clock;
  readonly price: Pricing;
}

const HOUR_MS = 3_600_000;
const PAGE = 200;

/** Compare two bundles: what the edit allows, what it forbids, and what it costs those who are talking. */
export async function planOf({ before, after, known, log, clock, price }: PlanOptions): Promise<BundlePlan> {
  const both = after.agents.filter((id) => before.agents.includes(id));
  const rows = log === undefined ? [] : await activeRuns(log, [before, after], clock.now());
  const agents: AgentPlan[] = [];
  for (const id of both) {
    const own = rows.filter(({ agent }) => agent === id);
    const talks = log === undefined ? [] : await Promise.all(own.map((row) => read(log, row)));
    const hidden = { before: hiddenFrom(before, known, id), after: hiddenFrom(after, known, id) };
    const costs = talks.map((conversation) => costOf(conversation, after, id, { now: clock.now(), price, hidden }));
    agents.push({
      agent: id,
      changes: [
        ...bundleChanges(before.agent(id), after.agent(id)),
        ...ruleChanges({ before, after, known }, id),
        ...shownChanges(hidden),
      ],
      active: talks.length,
      cold: costs.filter(({ kind }) => kind !== 'free').length,
      consequence: sumOf(costs, (amounts) => Money.sum(...amounts).toFixed()),
    });
  }
  return { changes: wholeChanges(before, after), agents };
}

/** The tools of an agent of whose runs gates say something else. What a tool says of itself is told with its traits. */
function ruleChanges(
  { before, after, known }: Pick<PlanOptions, 'before' | 'after' | 'known'>,
  id: string,
): readonly BundleChange[] {
  const [was, is] = [before, after].map((loaded) => {
    const agent = loaded.agent(id);
    return new Map(
      agent.grant.tools.map((tool) => {
        const stances = toolStances({ loaded, known }, agent, tool).filter(
          ({ by }) => by !== toolApproval.id && by !== 'tool',
        );
        return [tool.definition.name, stances.map(stanceInWords).join(', ')];
      }),
    );
  });
  return [...(is ?? [])].flatMap(([name, now]): readonly BundleChange[] => {
    const then = was?.get(name);
    if (then === undefined || then === now) return [];
    if (then === '') return [{ kind: 'narrows', what: `${name} ${now}` }];
    return [{ kind: 'widens', what: now === '' ? `${name} runs; it was: ${then}` : `${name} ${now}; it was: ${then}` }];
  });
}

/** Tools that the prompts of an agent do not have, because a gate takes them out of each. */
function hiddenFrom(loaded: LoadedBundle, known: readonly Plugin[], id: string): ReadonlySet<string> {
  const agent = loaded.agent(id);
  const isHidden = (tool: (typeof agent.grant.tools)[number]): boolean =>
    toolStances({ loaded, known }, agent, tool).some(({ by, then }) => by === toolFilter.id && then === 'deny');
  return new Set(agent.grant.tools.filter(isHidden).map(({ definition }) => definition.name));
}

interface Hidden {
  readonly before: ReadonlySet<string>;
  readonly after: ReadonlySet<string>;
}

function shownChanges({ before, after }: Hidden): readonly BundleChange[] {
  const left = [...after].filter((name) => !before.has(name));
  const joined = [...before].filter((name) => !after.has(name));
  return [
    ...left.map((name): BundleChange => ({ kind: 'rewrites', what: `${name} is taken out of the prompts` })),
    ...joined.map((name): BundleChange => ({ kind: 'rewrites', what: `${name} is not taken out of the prompts` })),
  ];
}

interface CostOptions {
  readonly now: number;
  readonly price: Pricing;
  readonly hidden: Hidden;
}

/** For a conversation that is cold already, nothing costs. */
function costOf(
  conversation: Conversation,
  after: LoadedBundle,
  id: string,
  { now, price, hidden }: CostOptions,
): Consequence {
  const sent = conversation.agent;
  const next = effectiveAgentOf(after.agent(id), conversation.selection?.selection ?? emptySelection, {}).agent;
  const free: Consequence = { kind: 'free', tokens: 0, money: undefined, assumes: { prices: 'unknown' } };
  if (sent === undefined || isCold(conversation, now)) return free;
  return consequence(without(sent, hidden.before), without(next, hidden.after), { conversation, now }, price);
}

function without(agent: EffectiveAgent, hidden: ReadonlySet<string>): EffectiveAgent {
  return hidden.size === 0 ? agent : { ...agent, tools: agent.tools.filter(({ name }) => !hidden.has(name)) };
}

async function activeRuns(
  log: Pick<Log, 'list'>,
  bundles: readonly LoadedBundle[],
  now: number,
): Promise<readonly ConversationRow[]> {
  const names = new Set(bundles.flatMap(({ id, file }) => [id, file, path.resolve(file)]));
  const found: ConversationRow[] = [];
  for (let before: ConversationRow | undefined; ;) {
    const page = await log.list({ limit: PAGE, before, bundles: [...names] });
    found.push(...page.filter(({ updatedAt }) => updatedAt > now - HOUR_MS));
    before = page.at(-1);
    if (page.length < PAGE || before === undefined || before.updatedAt <= now - HOUR_MS) return found;
  }
}

/** Agents that come and go, and plugins: a gate less is something more that may happen. */
function wholeChanges(before: LoadedBundle, after: LoadedBundle): readonly BundleChange[] {
  const changes: BundleChange[] = [];
  for (const id of after.agents)
    if (!before.agents.includes(id)) changes.push({ kind: 'widens', what: `the agent ${id} is new` });
  for (const id of before.agents)
    if (!after.agents.includes(id)) changes.push({ kind: 'narrows', what: `the agent ${id} is gone` });
  if (before.id !== after.id) {
    changes.push({
      kind: 'free',
      what: `the bundle is called ${after.id} and not ${before.id}: runs and choices of the old name stay with it, and a server takes it after a restart`,
    });
  }
  const configs = [before, after].map(
    ({ plugins }) => new Map(plugins.map(({ id, config }) => [id, canonicalJson(toJson(config))])),
  );
  const [old = new Map<string, string>(), now = new Map<string, string>()] = configs;
  for (const [id, config] of now) {
    const isGate = id.startsWith('gate.');
    if (!old.has(id)) changes.push({ kind: isGate ? 'narrows' : 'free', what: `the plugin ${id} is active` });
    else if (old.get(id) !== config)
      changes.push({
        kind: isGate ? 'widens' : 'free',
        what: `the settings of ${id} are others${isGate ? ': see whether it lets more through' : ''}`,
      });
  }
  for (const id of old.keys()) {
    if (!now.has(id))
      changes.push({
        kind: id.startsWith('gate.') ? 'widens' : 'free',
        what: `the plugin ${id} is not active any more`,
      });
  }
  return changes;
}
