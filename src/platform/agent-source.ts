import type { Clock } from '../base/clock.ts';
import { digest } from '../base/digest.ts';
import { canonicalJson, isObject, type Json } from '../base/json.ts';
import { isPromise, type MaybePromise } from '../base/promise.ts';
import type { HeldClaims, UnmetTool } from '../assembly/claims.ts';
import { effectiveAgentOf, type DeclaredAgent } from '../assembly/effective.ts';
import type { EffectiveAgent } from '../domain/agent.ts';
import type { Draft } from '../domain/event.ts';
import { emptySelection, readSelection, type Selection } from '../domain/selection.ts';
import type {
  AccountStore,
  AgentSource,
  Assembled,
  ConversationMeta,
  SelectionStore,
  Tool,
  Toolset,
} from '../kernel/ports.ts';
import { BoundedMap } from './bounded-map.ts';

/** One agent as loading left it: what narrowing starts from, and the hands of its tools. */
export interface LoadedAgent extends DeclaredAgent {
  readonly tools: Toolset;
}

export interface AgentSourceOptions {
  readonly agent: (id: string) => LoadedAgent | undefined;
  /** Throws for an agent that the bundle does not have. */
  readonly agentNamed: (name: string) => string;
  readonly selections?: SelectionStore | undefined;
  readonly accounts?: AccountStore | undefined;
  readonly clock: Clock;
}

/** Milliseconds that a store may take before a turn begins without it. */
const STORE_TIMEOUT_MS = 2_000;
const MOST_EFFECTIVE = 500;
const MOST_REMEMBERED = 5_000;

/**
 * Where a turn's agent comes from: grant − selection − unmet claims, at the moment the turn begins.
 *
 * Assembled once for each selection and set of claims, so that a turn without a store costs a look into a map. A
 * selection that cannot be read never breaks a turn: the one read before counts, and a fact says so. Claims that cannot
 * be read are no claims.
 */
export function createAgentSource({ agent, agentNamed, selections, accounts, clock }: AgentSourceOptions): AgentSource {
  const assembled = new BoundedMap<string, Assembled>(MOST_EFFECTIVE);
  const remembered = new BoundedMap<string, Selection>(MOST_REMEMBERED);
  const toolsets = new WeakMap<EffectiveAgent, Toolset>();

  function assemble(loaded: LoadedAgent, selection: Selection, held: HeldClaims, ignored: readonly Draft[]): Assembled {
    const key = `${loaded.frame.id}\n${selection === emptySelection ? '' : canonicalJson(asJson(selection))}\n${canonicalJson(held)}`;
    let made = assembled.get(key);
    if (made === undefined) {
      const { agent: effective, unmet } = effectiveAgentOf(loaded, selection, held);
      deepFreeze(effective);
      const facts = [...appliedFact(selection), ...inactiveFacts(unmet)];
      made = { agent: effective, digest: digest(asJson(effective)), facts };
      assembled.set(key, made);
    }
    return ignored.length === 0 ? made : { ...made, facts: [...ignored, ...made.facts] };
  }

  function selectionOf(meta: ConversationMeta, loaded: LoadedAgent): MaybePromise<Chosen> {
    if (selections === undefined) return { selection: emptySelection, facts: [] };
    const key = { userId: meta.userId, tenant: meta.tenant, bundle: loaded.bundle, agent: loaded.frame.id };
    const name = canonicalJson(key);
    const use = (asked: Asked): Chosen => {
      if (!asked.ok) {
        const before = remembered.get(name);
        const instead = before === undefined ? 'the agent is as configured' : 'the selection read before is used';
        return { selection: before ?? emptySelection, facts: [ignoredFact(`The store ${asked.why}; ${instead}.`)] };
      }
      const { selection, ignored } = readSelection(asked.value);
      remembered.set(name, selection);
      return { selection, facts: ignored.length === 0 ? [] : [ignoredFact(ignored.join(' '))] };
    };
    const asked = askStore(() => selections.read(key), clock);
    return isPromise(asked) ? asked.then(use) : use(asked);
  }

  function claimsOf(meta: ConversationMeta, loaded: LoadedAgent): MaybePromise<HeldClaims> {
    const isNeeded = loaded.grant.tools.some(({ needs }) => needs !== undefined);
    if (!isNeeded || accounts === undefined) return {};
    const use = (asked: Asked): HeldClaims => (asked.ok ? readClaims(asked.value) : {});
    const asked = askStore(() => accounts.claims({ userId: meta.userId, tenant: meta.tenant }), clock);
    return isPromise(asked) ? asked.then(use) : use(asked);
  }

  return {
    assemble(meta) {
      const loaded = agent(agentNamed(meta.agent));
      if (loaded === undefined) throw new Error('Treadle bug: an agent was named and is not there');
      const chosen = selectionOf(meta, loaded);
      const held = claimsOf(meta, loaded);
      if (!isPromise(chosen) && !isPromise(held)) return assemble(loaded, chosen.selection, held, chosen.facts);
      return Promise.all([chosen, held]).then(([{ selection, facts }, claims]) =>
        assemble(loaded, selection, claims, facts),
      );
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

interface Chosen {
  readonly selection: Selection;
  readonly facts: readonly Draft[];
}

type Asked = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string };

/** Asks a store that may throw, hang or answer nonsense. */
function askStore(ask: () => MaybePromise<unknown>, clock: Clock): MaybePromise<Asked> {
  const failed = (error: unknown): Asked => ({
    ok: false,
    why: `failed (${error instanceof Error ? error.message : String(error)})`,
  });
  let answer: MaybePromise<unknown>;
  try {
    answer = ask();
  } catch (error) {
    return failed(error);
  }
  if (!isPromise(answer)) return { ok: true, value: answer };
  const pending = answer;
  return new Promise((resolve) => {
    const stop = clock.after(STORE_TIMEOUT_MS, () =>
      resolve({ ok: false, why: `did not answer in ${STORE_TIMEOUT_MS} ms` }),
    );
    pending.then(
      (value) => {
        stop();
        resolve({ ok: true, value });
      },
      (error: unknown) => {
        stop();
        resolve(failed(error));
      },
    );
  });
}

/** Only what is plainly a list of rights counts. */
function readClaims(value: unknown): HeldClaims {
  if (!isObject(value)) return {};
  const entries = Object.entries(value).flatMap(([provider, claims]): [string, string[]][] =>
    Array.isArray(claims) ? [[provider, claims.filter((claim): claim is string => typeof claim === 'string')]] : [],
  );
  return Object.fromEntries(entries);
}

function handsOf(effective: EffectiveAgent, granted: Toolset | undefined): Toolset {
  const tools = new Map<string, Tool>();
  for (const { name, group } of effective.tools) {
    const tool = granted?.get(name);
    // A name may have passed to another group since the turn began.
    if (tool !== undefined && tool.definition.group === group) tools.set(name, tool);
  }
  return tools;
}

function appliedFact(selection: Selection): readonly Draft[] {
  const { disabled, model } = selection;
  const isEmpty = model === undefined && Object.values(disabled).every((entry) => Object.keys(entry).length === 0);
  return isEmpty ? [] : [{ type: 'selection.applied', payload: { digest: digest(asJson(selection)) } }];
}

function ignoredFact(why: string): Draft {
  return { type: 'selection.ignored', payload: { why } };
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
