import type { Clock } from '../../base/clock.ts';
import { digest } from '../../base/digest.ts';
import { canonicalJson, isObject, type Json } from '../../base/json.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import { reactivated, type HeldClaims, type UnmetTool } from '../../assembly/claims.ts';
import { underCeiling } from '../../assembly/ceiling.ts';
import { effectiveAgentOf, type DeclaredAgent } from '../../assembly/effective.ts';
import type { EffectiveAgent } from '../../domain/agent.ts';
import { isPlain } from '../../domain/selection-patch.ts';
import type { Conversation } from '../../domain/conversation.ts';
import type { Draft, FactPayload } from '../../domain/event.ts';
import { emptySelection, type Selection } from '../../domain/selection.ts';
import type { ToolDefinition } from '../../domain/tool.ts';
import type { AccountStore } from '../../kernel/choices.ts';
import type { AgentSource, Assembled } from '../../kernel/agent-source.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import type { Tool, Toolset } from '../../kernel/running-tool.ts';
import type { EventSource } from '../hosting/event-sources.ts';
import { askStore, STORE_TIMEOUT_MS, type Asked } from '../accounts/ask-store.ts';
import type { Chosen, SelectionReader } from '../selections/selection-reader.ts';
import { BoundedMap } from '../bounded-map.ts';

/** One agent as loading left it: what narrowing starts from, and the hands of its tools. */
export interface LoadedAgent extends DeclaredAgent {
  readonly tools: Toolset;
  /** Services that it hears from. None when absent. */
  readonly eventSources?: readonly EventSource[] | undefined;
}

export interface AgentSourceOptions {
  readonly agent: (id: string) => LoadedAgent | undefined;
  /** Throws for an agent that the bundle does not have. */
  readonly agentNamed: (name: string) => string;
  readonly selections?: SelectionReader | undefined;
  readonly accounts?: AccountStore | undefined;
  readonly clock: Clock;
}

const MOST_EFFECTIVE = 500;

/**
 * Where a turn's agent comes from: grant − selection − unmet claims, at the moment the turn begins.
 *
 * Assembled once for each selection and set of claims, so that a turn without a store costs a look into a map. A
 * selection that cannot be read never breaks a turn: the one that the conversation last applied counts, and a fact says
 * so. Claims that cannot be read are no claims.
 */
export function createAgentSource({ agent, agentNamed, selections, accounts, clock }: AgentSourceOptions): AgentSource {
  const assembled = new BoundedMap<string, Assembled>(MOST_EFFECTIVE);
  const toolsets = new WeakMap<EffectiveAgent, Toolset>();

  function assemble(loaded: LoadedAgent, chosen: Chosen, held: HeldClaims, conversation: Conversation): Assembled {
    const { selection } = chosen;
    const key = `${loaded.frame.id}\n${selection === emptySelection ? '' : canonicalJson(asJson(selection))}\n${canonicalJson(held)}${ceilingKey(conversation)}`;
    let made = assembled.get(key);
    if (made === undefined) {
      const { agent: whole, unmet } = effectiveAgentOf(loaded, selection, held);
      const effective = underCeiling(whole, conversation.ceiling);
      deepFreeze(effective);
      made = { agent: effective, digest: digest(asJson(effective)), facts: inactiveFacts(unmet) };
      assembled.set(key, made);
    }
    const facts = [
      ...ignoredFacts(chosen),
      ...appliedFacts(chosen, conversation),
      ...reactivated(conversation.agent, made.agent).map((payload) => ({
        type: 'account.reactivated' as const,
        payload,
      })),
    ];
    return facts.length === 0 ? made : { ...made, facts: [...facts, ...made.facts] };
  }

  function claimsOf(meta: ConversationMeta, loaded: LoadedAgent): MaybePromise<HeldClaims> {
    const isNeeded = loaded.grant.tools.some(({ needs }) => needs !== undefined);
    if (!isNeeded || accounts === undefined) return {};
    const use = (asked: Asked): HeldClaims => (asked.ok ? readClaims(asked.value) : {});
    const asked = askStore(
      () => accounts.claims({ userId: meta.userId, tenant: meta.tenant }),
      clock,
      STORE_TIMEOUT_MS,
    );
    return isPromise(asked) ? asked.then(use) : use(asked);
  }

  return {
    assemble(meta, conversation) {
      const loaded = agent(agentNamed(meta.agent));
      if (loaded === undefined) throw new Error('Treadle bug: an agent was named and is not there');
      const chosen = selections?.(meta, loaded, conversation) ?? NOTHING_CHOSEN;
      const held = claimsOf(meta, loaded);
      if (!isPromise(chosen) && !isPromise(held)) return assemble(loaded, chosen, held, conversation);
      return Promise.all([chosen, held]).then(([known, claims]) => assemble(loaded, known, claims, conversation));
    },
    tools(effective) {
      let tools = toolsets.get(effective);
      if (tools === undefined) {
        tools = handsOf(effective, agent(effective.id)?.tools);
        toolsets.set(effective, tools);
      }
      return tools;
    },
  };
}

const NOTHING_CHOSEN: Chosen = { selection: emptySelection, promoted: [], ignored: undefined };

/** Only what is plainly a list of rights counts. */
export function readClaims(value: unknown): HeldClaims {
  if (!isObject(value)) return {};
  const entries = Object.entries(value).flatMap(([provider, claims]): [string, string[]][] =>
    Array.isArray(claims) ? [[provider, claims.filter((claim): claim is string => typeof claim === 'string')]] : [],
  );
  return Object.fromEntries(entries);
}

function handsOf(effective: EffectiveAgent, granted: Toolset | undefined): Toolset {
  const tools = new Map<string, Tool>();
  for (const definition of effective.tools) {
    const { name, group } = definition;
    const tool = granted?.get(name);
    // A name may have passed to another group since the turn began.
    if (tool !== undefined && tool.definition.group === group) tools.set(name, asDefined(tool, definition));
  }
  return tools;
}

/** Gates are shown what the turn was told of a tool, where that is stricter than what the bundle says. */
function asDefined(tool: Tool, definition: ToolDefinition): Tool {
  if (tool.definition.approval === definition.approval) return tool;
  return { ...tool, definition: { ...tool.definition, approval: definition.approval } };
}

function ceilingKey({ ceiling }: Conversation): string {
  return ceiling === undefined ? '' : `\n${ceiling.denied.join()}\n${ceiling.ask.join()}`;
}

/** What the log has to know of the selection: the whole of it once, then that it is still the same. */
function appliedFacts({ selection, promoted }: Chosen, conversation: Conversation): readonly Draft[] {
  const before = conversation.selection;
  const isNothing = promoted.length === 0 && isPlain(selection);
  if (before === undefined && isNothing) return [];
  const payload: FactPayload<'selection.applied'> = { digest: digest(asJson(selection)) };
  const isKnown = payload.digest === before?.digest && promoted.join() === before.promoted.join();
  if (isKnown && isNothing) return [];
  if (!isKnown) Object.assign(payload, { selection }, promoted.length === 0 ? {} : { promoted: [...promoted] });
  return [{ type: 'selection.applied', payload }];
}

function ignoredFacts({ ignored }: Chosen): readonly Draft[] {
  return ignored === undefined ? [] : [{ type: 'selection.ignored', payload: { why: ignored } }];
}

function inactiveFacts(unmet: readonly UnmetTool[]): readonly Draft[] {
  const accounts = [...new Set(unmet.map(({ account }) => account))].sort();
  return accounts.map((account) => {
    const tools = unmet.filter((one) => one.account === account).map(({ name, why }) => ({ name, why }));
    return { type: 'account.inactive', payload: { account, tools } };
  });
}

/** Our own values made of JSON, whose types allow an absent key to be undefined; canonical JSON leaves those out. */
function asJson(value: Selection | EffectiveAgent): Json {
  return value as unknown as Json;
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const item of Object.values(value)) deepFreeze(item);
}
