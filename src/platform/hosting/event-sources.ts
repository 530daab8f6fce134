import type { Clock, Instant } from '../../base/clock.ts';
import { shortDigest } from '../../base/digest.ts';
import { canonicalJson, isObject, toJson, type Json } from '../../base/json.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import { head, utf8Length } from '../../base/text.ts';
import { inventoryLevels, resolve, type Path } from '../../assembly/resolve.ts';
import type { Conversation } from '../../domain/conversation.ts';
import type { Draft } from '../../domain/event.ts';
import type { DeclaredEventSource } from '../../domain/inventory.ts';
import { FetchRefusal } from '../../kernel/fetch.ts';
import type { AccountStore } from '../../kernel/choices.ts';
import type { AgentSource, Assembled } from '../../kernel/agent-source.ts';
import type { ConnectedAccount } from '../../kernel/running-tool.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import { isToolReturn } from '../../kernel/tool.ts';
import { askStore } from '../accounts/ask-store.ts';
import type { CompiledTool } from '../grant/catalog.ts';
import type { Declared } from '../bundle/declare.ts';
import { didYouMean, oneOf, type Problems } from '../bundle/problems.ts';
import type { LoadedService } from '../grant/service-members.ts';

/** A service that an agent listens to. */
export interface EventSource {
  readonly namespace: string;
  /** Events may be handed in. */
  readonly push: boolean;
  readonly pull: Pull | undefined;
}

interface Pull {
  readonly operation: string;
  readonly maxEvents: number;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** The services that an agent listens to, those that are switched off left out. Wrong ones are added to `problems`. */
export function eventSourcesOf(
  { bundle, place, quoted }: Pick<Declared, 'bundle' | 'place' | 'quoted'>,
  agent: string,
  serviceOf: (namespace: string) => LoadedService | undefined,
  problems: Problems,
): readonly EventSource[] {
  const found = resolve(inventoryLevels(bundle, agent), 'event_sources');
  const sources: EventSource[] = [];
  // As declared: a service that cannot be loaded has been told.
  const entries = resolve(inventoryLevels(bundle, agent), 'tools')?.value ?? [];
  const granted = entries.flatMap((one) => (one.kind === 'named_service' ? Object.keys(one.namespaces) : []));
  for (const [index, declared] of (found?.value ?? []).entries()) {
    const at: Path = [...(found?.from ?? []), index];
    const { namespace, enabled = true, policies = {} } = declared;
    if (!granted.includes(namespace)) {
      const path = [...at, 'namespace'];
      problems.add('bundle_unknown_name', {
        place: place(path),
        found: `${quoted(path, namespace)}, a service that the agent is not granted`,
        wanted: granted.length === 0 ? undefined : oneOf(granted),
        hint: didYouMean(namespace, granted) ?? 'grant it in tools',
      });
      continue;
    }
    const pull = policies.pull === undefined ? undefined : pullOf(policies.pull);
    const service = serviceOf(namespace);
    if (pull !== undefined && service !== undefined && !service.isRemote) {
      const operation = operationOf(service, pull.operation);
      const path = [...at, 'policies', 'pull', ...(policies.pull?.operation === undefined ? [] : ['operation'])];
      const wrong = wrongWith(operation, pull.operation, namespace);
      if (wrong !== undefined) {
        const names = service.operations.map(({ own }) => own);
        problems.add('bundle_unknown_name', { place: place(path), ...wrong, hint: didYouMean(pull.operation, names) });
        continue;
      }
    }
    if (enabled) sources.push({ namespace, push: policies.push ?? true, pull });
  }
  return sources;
}

function pullOf(declared: NonNullable<NonNullable<DeclaredEventSource['policies']>['pull']>): Pull {
  const { operation = 'event.list', max_events = 20, max_bytes = 8_192, timeout_ms = 3_000 } = declared;
  return { operation, maxEvents: max_events, maxBytes: max_bytes, timeoutMs: timeout_ms };
}

function operationOf({ operations }: LoadedService, own: string): CompiledTool | undefined {
  return operations.find((one) => one.own === own);
}

/** What acts is asked about by gates, and nobody asks here: only what reads may be called. */
function wrongWith(
  operation: CompiledTool | undefined,
  name: string,
  namespace: string,
): { readonly found: string; readonly wanted: string } | undefined {
  if (operation === undefined)
    return { found: `no operation ${name} in the service ${namespace}`, wanted: 'one that lists events' };
  if (operation.definition.effect === 'read') return undefined;
  return { found: `${name}, which does more than read`, wanted: 'an operation whose effect is read' };
}

export interface WithEventsOptions {
  readonly sourcesOf: (agent: string) => readonly EventSource[];
  readonly serviceOf: (namespace: string) => LoadedService | undefined;
  readonly accounts: AccountStore | undefined;
  readonly clock: Clock;
}

/**
 * The same agents, whose turns begin with what their services have to tell.
 *
 * A service that fails or hangs is said, and never breaks a turn. It is asked from where the log says that the last
 * reading ended, and what it tells twice is on record once.
 */
export function withEvents(source: AgentSource, options: WithEventsOptions): AgentSource {
  return {
    assemble(meta, conversation) {
      const made = source.assemble(meta, conversation);
      const pulls = options.sourcesOf(meta.agent).filter(({ pull }) => pull !== undefined);
      if (pulls.length === 0) return made;
      const more = async (assembled: Assembled): Promise<Assembled> => {
        // What a user switched off, or an account keeps away, is not heard either.
        const groups = new Set(assembled.agent.tools.map(({ group }) => group));
        const open = pulls.filter(({ namespace }) => groups.has(namespace));
        const told = await Promise.all(open.map((one) => pullFrom(one, meta, conversation, options)));
        const facts = told.flat();
        return facts.length === 0 ? assembled : { ...assembled, facts: [...assembled.facts, ...facts] };
      };
      return isPromise(made) ? made.then(more) : more(made);
    },
    tools: (agent) => source.tools(agent),
  };
}

async function pullFrom(
  { namespace, pull }: EventSource,
  meta: ConversationMeta,
  conversation: Conversation,
  { serviceOf, accounts, clock }: WithEventsOptions,
): Promise<readonly Draft[]> {
  if (pull === undefined) return [];
  const service = serviceOf(namespace);
  const operation = service === undefined ? undefined : operationOf(service, pull.operation);
  const wrong = service?.down ?? wrongWith(operation, pull.operation, namespace)?.found;
  if (operation === undefined || wrong !== undefined) return [trouble(namespace, wrong ?? 'it is not there')];
  const before = Object.hasOwn(conversation.cursors, namespace) ? conversation.cursors[namespace] : undefined;
  const stop = new AbortController();
  const args = { ...(before === undefined ? {} : { cursor: before }), limit: pull.maxEvents };
  const problems = operation.hands.validate(args);
  if (problems.length > 0)
    return [trouble(namespace, `${pull.operation} does not take cursor and limit: ${problems.join('; ')}`)];
  const { needs } = service ?? {};
  const asked = askStore(
    (): MaybePromise<unknown> =>
      operation.hands.run(args, {
        conversationId: meta.id,
        userId: meta.userId,
        tenant: meta.tenant,
        turnId: `t${conversation.turns.length + 1}`,
        actionId: `events-${namespace}`,
        idempotencyKey: `${meta.id}/events-${namespace}`,
        signal: stop.signal,
        now: () => clock.now(),
        progress: () => undefined,
        readBody: () => undefined,
        conversation,
        call: () => Promise.reject(new Error('a reading of events calls no tools')),
        fetch: () => Promise.reject(new FetchRefusal('a reading of events was not given the network')),
        secrets: {},
        ...(needs === undefined || accounts === undefined
          ? {}
          : { account: () => opened(accounts, meta, needs.provider) }),
      }),
    clock,
    pull.timeoutMs,
  );
  const answer = isPromise(asked) ? await asked : asked;
  stop.abort();
  if (!answer.ok) return [trouble(namespace, answer.why)];
  return told(namespace, pull, before, answer.value);
}

async function opened(accounts: AccountStore, meta: ConversationMeta, provider: string): Promise<ConnectedAccount> {
  if (accounts.open === undefined) throw new Error(`no ${provider} account can be used here`);
  return accounts.open({ userId: meta.userId, tenant: meta.tenant, provider });
}

function trouble(source: string, error: string): Draft {
  return { type: 'source.pulled', payload: { source, error: head(error.toWellFormed(), 300) } };
}

/** What a service answered, as facts: as many events as there is room for, and where the next reading goes on. */
function told(
  source: string,
  { maxEvents, maxBytes }: Pull,
  before: string | undefined,
  answer: unknown,
): readonly Draft[] {
  if (isToolReturn(answer) && answer.kind === 'failure') return [trouble(source, answer.message)];
  const value = toJson(isToolReturn(answer) && answer.kind === 'result' ? answer.value : answer);
  const events = isObject(value) ? value['events'] : value;
  if (!Array.isArray(events)) return [trouble(source, 'it answered with no list of events')];
  const drafts: Draft[] = [];
  let room = maxBytes;
  for (const event of events.slice(0, maxEvents)) {
    const draft = eventDraft(source, event as Json); // a part of JSON
    room -= utf8Length(draft.payload.text);
    if (room < 0 && drafts.length > 0) break;
    drafts.push(draft);
  }
  const isCut = drafts.length < events.length;
  const cursor = isObject(value) ? value['cursor'] : undefined;
  const next = typeof cursor === 'string' && cursor !== '' && cursor.length <= 1_000 && !isCut ? cursor : undefined;
  if (next === before && !isCut) return drafts;
  return [
    ...drafts,
    {
      type: 'source.pulled',
      payload: { source, ...(next === undefined ? {} : { cursor: next }), ...(isCut ? { isCut: true as const } : {}) },
    },
  ];
}

/** Characters of one event that the model is shown. */
const LONGEST = 2_000;

/** An event as a fact. One that has no id is known by what it says. */
export function eventDraft(source: string, event: Json): Extract<Draft, { type: 'source.event' }> {
  const fields = isObject(event) ? event : {};
  const said =
    typeof event === 'string' ? event : typeof fields['text'] === 'string' ? fields['text'] : canonicalJson(event);
  const text = said.length > LONGEST ? `${head(said, LONGEST)}…` : said;
  const id =
    typeof fields['id'] === 'string' && fields['id'] !== ''
      ? head(fields['id'], 200)
      : shortDigest(canonicalJson(event));
  const at = instantOf(fields['at']);
  const payload = { source, id, text: text.toWellFormed(), ...(at === undefined ? {} : { at }) };
  return { type: 'source.event', payload, key: `${source}/${id}` };
}

function instantOf(at: Json | undefined): Instant | undefined {
  const value = typeof at === 'number' ? at : typeof at === 'string' ? Date.parse(at) : Number.NaN;
  return Number.isFinite(value) && Math.abs(value) <= 8.64e15 ? value : undefined;
}
