import { systemClock, type Clock } from '../../base/clock.ts';
import type { EffectiveAgent } from '../../domain/agent.ts';
import type { Fact } from '../../domain/event.ts';
import { rowOf } from '../../domain/selection-record.ts';
import { install, type Plugin } from '../../kernel/plugin.ts';
import type { AccountStore, SelectionStore } from '../../kernel/choices.ts';
import type { AgentSource } from '../../kernel/agent-source.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import type { Logger } from '../../kernel/logger.ts';
import { withChosenModel } from '../models/auto-model.ts';
import { groupBlocks } from '../bundle/builtins.ts';
import type { LoadedBundle } from '../bundle/load.ts';
import { recordingOf, type RecordedTurn, type Recording } from './recording.ts';
import type { OtherRules } from './replay-run.ts';

export { recordedReach } from './recorded-servers.ts';

export interface BundleRulesOptions {
  /** Loaded with `recordedReach`. It is closed with the rules. */
  readonly bundle: LoadedBundle;
  readonly plugins: readonly Plugin[];
  readonly logger: Logger;
  readonly notes?: readonly string[] | undefined;
  /** What of the report is not for whoever asks. */
  readonly masked?: ((text: string) => string) | undefined;
}

export interface BundleRules extends OtherRules {
  readonly notes: readonly string[];
  readonly masked: (text: string) => string;
  close(): Promise<void>;
}

/** The server's own, whatever the bundle says: what was spent elsewhere is not known here. */
const BUDGET_GATE = 'gate.budget';

/** What they say depends on the clock and on other runs: of a run alone they cannot judge again. */
const NOT_ASKED = /^(observer\.|gate\.(rate_limiter|token_budget)$)/;

/** A bundle's agents, gates, planner and memory, to replay a run under. Its tool servers have what the log says they had. */
export function bundleRules(meta: ConversationMeta, facts: readonly Fact[], options: BundleRulesOptions): BundleRules {
  const recording = recordingOf(meta, facts, () => false);
  const { bundle, plugins, logger, notes = [], masked = (text: string) => text } = options;
  const active = bundle.plugins.filter(({ id }) => !NOT_ASKED.test(id));
  const left = bundle.plugins.filter(({ id }) => NOT_ASKED.test(id) && !id.startsWith('observer.'));
  return {
    has: (plugin) => active.some(({ id }) => id === plugin),
    stands: (gate) => gate === BUDGET_GATE || left.some(({ id }) => id === gate),
    install(bus, clock) {
      const timers: Clock = { now: () => clock.now(), after: (ms, callback) => systemClock.after(ms, callback) };
      const installed = active.flatMap(({ id, config, priority }) => {
        const plugin = plugins.find((one) => one.id === id);
        return plugin === undefined ? [] : [install(plugin, config, { bus, clock: timers, logger, priority })];
      });
      return [...installed.flatMap((one) => [...one.blocks]), ...groupBlocks()].sort(([one], [other]) =>
        one < other ? -1 : 1,
      );
    },
    agents: () => agentsOf(bundle, recording),
    masked,
    notes: [
      ...notes,
      ...left.map(
        ({ id }) => `${id} was not asked: it judges by the clock and by other runs. What it said then stands.`,
      ),
    ],
    close: () => bundle.close(),
  };
}

/** Turns begin with the choices and the accounts that they began with then. */
function agentsOf(bundle: LoadedBundle, { turns, end }: Recording): AgentSource {
  let turn: RecordedTurn | undefined;
  const selections: SelectionStore = {
    readSelection: ({ conversation }) =>
      conversation !== undefined || turn === undefined
        ? undefined
        : { value: rowOf({ selection: turn.selection, pending: [] }), revision: 1 },
    writeSelection: () => false,
  };
  const accounts: AccountStore = { claims: () => claimsOf(bundle, turn?.agent) };
  const model = [...turns.values()].find((one) => one.agent !== undefined)?.agent?.models[0] ?? end.agent?.models[0];
  const settled = model === undefined ? bundle : withChosenModel(bundle, { ref: model, why: 'key' });
  const source = settled.agentSource(selections, accounts);
  return {
    assemble(meta, conversation) {
      turn = turns.get(`t${conversation.turns.length + 1}`) ?? turn;
      return source.assemble(meta, conversation);
    },
    tools: (agent) => source.tools(agent),
  };
}

/** Every right that a tool of the agent needs, but of the accounts that were not connected then. */
function claimsOf(bundle: LoadedBundle, then: EffectiveAgent | undefined): Record<string, readonly string[]> {
  const unmet = new Set(then?.unmet?.map(({ account }) => account));
  const claims: Record<string, string[]> = {};
  const agents = then !== undefined && bundle.agents.includes(then.id) ? [then.id] : bundle.agents;
  for (const { needs } of agents.flatMap((id) => bundle.agent(id).grant.tools)) {
    if (needs === undefined || unmet.has(needs.provider)) continue;
    (claims[needs.provider] ??= []).push(...needs.claims);
  }
  return claims;
}
