import { randomIds } from '../base/ids.ts';

import { baseAddress, checkKey, segment, type Query } from './address.ts';
import { ClientError } from './client-error.ts';
import { openFrames } from './frames.ts';
import { createRun, RUNS, type ChangeOptions, type Run } from './run.ts';
import { asListed, asNote, asPage, asSignIn, asSnapshot } from './shapes.ts';
import { createTransport, type Fetch } from './transport.ts';
import type {
  Account,
  AccountSignIn,
  Allowance,
  Attachment,
  Note,
  NoteList,
  Page,
  Prompt,
  ReplayReport,
  RunLimits,
  RunList,
  Snapshot,
  UsageRow,
  StreamFrame,
} from './types.ts';

export interface ClientOptions {
  /** Where the server is, such as `https://treadle.example`. Plain HTTP is taken for this machine only. */
  readonly url: string;
  /** An API key. Sent to this server and nowhere else, and never printed. None: a server in development mode. */
  readonly key?: string | undefined;
  /** Trusts the network between here and there. */
  readonly plainHttp?: boolean;
  /** For one request: 30 s when absent. */
  readonly requestTimeoutMs?: number;
  /** For one call with all its retries: 60 s when absent. */
  readonly deadlineMs?: number;
  readonly fetch?: Fetch;
}

export interface ReadOptions {
  /** Goes on after it; from the beginning when absent. */
  readonly cursor?: string | undefined;
  /** Also the pieces of entries that are being made. */
  readonly deltas?: boolean;
  /** False reads page by page: for networks that hold streams back. A stream that does not come is noticed anyway. */
  readonly stream?: boolean;
  /** The first pause between two pages, and the longest: 2 s and 15 s when absent. */
  readonly firstPollMs?: number;
  readonly longestPollMs?: number;
  /** How long nothing may happen before reading ends with `run_timeout` or `run_awaiting_input`: 15 minutes when absent. */
  readonly giveUpMs?: number;
}

export interface NewRun {
  readonly prompt: string;
  readonly agent?: string | undefined;
  readonly attachments?: readonly Attachment[] | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly maxIterations?: number | undefined;
  /** Each narrows what the agent declares. */
  readonly limits?: RunLimits | undefined;
}

export interface RunQuery {
  /** Statuses, separated by commas. */
  readonly status?: string | undefined;
  readonly agent?: string | undefined;
  /** Part of the title. */
  readonly q?: string | undefined;
  readonly archived?: 'no' | 'only' | 'any' | undefined;
  readonly parent?: string | undefined;
  /** A label of their metadata, as `name=value`. */
  readonly label?: string | undefined;
  readonly cursor?: string | undefined;
  /** 1 to 100. */
  readonly limit?: number | undefined;
}

export interface PageQuery {
  readonly cursor?: string | undefined;
  /** 1 to 100, 50 when absent. */
  readonly limit?: number | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
  /** `messages` leaves out how answers came about. */
  readonly view?: 'all' | 'messages' | undefined;
}

/** Whose notes: your own of all bundles, where nothing is said. */
export interface NoteOwner {
  readonly bundle?: string | undefined;
  /** Another user of your tenant: for the scope `admin`. */
  readonly user?: string | undefined;
}

export interface NoteQuery extends NoteOwner {
  /** Words that they have, the best first: one page, without a cursor. */
  readonly q?: string | undefined;
  readonly cursor?: string | undefined;
  /** 1 to 100, 50 when absent. */
  readonly limit?: number | undefined;
}

/** What is not named stays. */
export interface NoteChange {
  readonly text?: string | undefined;
  readonly pinned?: boolean | undefined;
}

/** Which part of the spending, and whether each day or month has rows of its own. */
export interface UsageRange {
  readonly from?: string;
  readonly to?: string;
  readonly per?: 'day' | 'month';
  readonly user?: string;
  readonly agent?: string;
  readonly model?: string;
}

/** A call of a route that has no method of its own. */
export interface RouteCall extends ChangeOptions {
  /** `GET` when absent. */
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly query?: Query;
  readonly body?: unknown;
  /** In a browser: it is sent also when the page goes away meanwhile. */
  readonly keepalive?: boolean | undefined;
}

export interface FrameQuery {
  /** Goes on after it; from the beginning when absent. */
  readonly cursor?: string | undefined;
  readonly deltas?: boolean | undefined;
  /** `removed` stays for the next turn. */
  readonly until?: 'ended' | 'removed' | undefined;
}

export interface Client {
  /** Starts a run. Nothing waits: it goes on whether or not anybody reads. */
  create(run: NewRun, options?: ChangeOptions & ReadOptions): Promise<Run>;
  /** A run that exists: to read it, answer it, steer it. Nothing is asked of the server yet. */
  run(id: string, options?: ReadOptions): Run;
  snapshot(id: string, options?: Pick<ChangeOptions, 'signal'>): Promise<Snapshot>;
  /**
   * The frames of a run as the server sends them: for whoever keeps a fold of its own, as the page does. Resolves when the
   * stream is open. When it ends, is cut or falls silent, begin again at the last cursor. `run` does all of that by itself.
   */
  frames(
    id: string,
    query?: FrameQuery,
    options?: Pick<ChangeOptions, 'signal'>,
  ): Promise<AsyncGenerator<StreamFrame, void>>;
  /** Any route, by its path after `/api/v1`, tried again and refused like all others. A change has a key only if one is given. */
  request(path: string, call?: RouteCall): Promise<unknown>;
  /** One page of a run's entries: `run` reads them all, and those to come. */
  page(id: string, query?: PageQuery): Promise<Page>;
  /** Newest first. */
  list(query?: RunQuery): Promise<RunList>;
  /** The facts of a run, in order. */
  facts(id: string): AsyncGenerator<unknown, void>;
  /** What the model saw in one iteration. */
  prompt(id: string, iteration: number, turn?: number): Promise<Prompt>;
  /** What you have allowed for always, the newest first; with a run, also what was allowed for that one. */
  allowances(run?: string): Promise<readonly Allowance[]>;
  /** Takes one back. One that was allowed for a run alone is named with that run. */
  revokeAllowance(id: string, run?: string, options?: ChangeOptions): Promise<void>;
  /** One page of what agents remember of you: pinned ones first, then the last changed ones. */
  notes(query?: NoteQuery): Promise<NoteList>;
  /** All of them, one after the other: to be kept. */
  everyNote(owner?: NoteOwner): AsyncGenerator<Note, void>;
  note(id: string, owner?: NoteOwner): Promise<Note>;
  /** Puts a note right: agents know it from the next turn on. */
  changeNote(id: string, change: NoteChange, owner?: NoteOwner): Promise<Note>;
  /** For good. */
  deleteNote(id: string, owner?: NoteOwner, options?: ChangeOptions): Promise<void>;
  /** The accounts that you may connect for tools to use, and those that you have. */
  accounts(): Promise<readonly Account[]>;
  /** Begins to connect one: you go to `authorizationUrl`, and runs that asked for it go on once you are back. */
  connectAccount(provider: string, claims?: readonly string[]): Promise<AccountSignIn>;
  disconnectAccount(provider: string): Promise<void>;
  /** The whole run to keep, as Markdown or as JSON lines, in pieces as they come. */
  transcript(id: string, format?: 'md' | 'jsonl'): AsyncGenerator<string, void>;
  /**
   * Runs it again on the server, offline, and says what would be asked for otherwise: by its own log, or under another
   * bundle, as YAML, for whoever has the scope `admin`.
   */
  replay(
    id: string,
    options?: { readonly bundle?: string | undefined; readonly upTo?: number | undefined },
  ): Promise<ReplayReport>;
  usage(by: 'user' | 'agent' | 'model' | 'day', range?: UsageRange): Promise<readonly UsageRow[]>;
}

const CLIENT_OPTIONS: ReadonlySet<string> = new Set<keyof ClientOptions>([
  'url',
  'key',
  'plainHttp',
  'requestTimeoutMs',
  'deadlineMs',
  'fetch',
]);
const READ_OPTIONS: ReadonlySet<string> = new Set<keyof ReadOptions>([
  'cursor',
  'deltas',
  'stream',
  'firstPollMs',
  'longestPollMs',
  'giveUpMs',
]);
const CREATE_OPTIONS: ReadonlySet<string> = new Set([...READ_OPTIONS, 'idempotencyKey', 'signal']);
const FACTS = 500;
const NOTE_PAGE = 100;
const ALLOWANCES = '/api/v1/allowances';
const NOTES = '/api/v1/notes';
const ACCOUNTS = '/api/v1/accounts';

/** A client of the run API: in a browser, in Node, or wherever else there is `fetch`. */
export function createClient(options: ClientOptions): Client {
  onlyKnown(options, CLIENT_OPTIONS);
  const { url, plainHttp = false, requestTimeoutMs = 30_000, deadlineMs = 60_000 } = options;
  const key = options.key === undefined ? undefined : checkKey(options.key);
  positive({ requestTimeoutMs, deadlineMs });
  const transport = createTransport({
    base: baseAddress(url, plainHttp),
    key,
    fetch: options.fetch ?? ((address, init) => fetch(address, init)),
    requestTimeoutMs,
    deadlineMs,
    fraction: () => randomIds.fraction(),
  });
  const nextKey = (): string => randomIds.next('call');

  function handle(id: string, options: ReadOptions): Run {
    const { cursor, deltas = false, stream = true } = options;
    const { firstPollMs = 2_000, longestPollMs = 15_000, giveUpMs = 900_000 } = options;
    positive({ firstPollMs, longestPollMs, giveUpMs });
    return createRun(id, { transport, nextKey, cursor, deltas, stream, firstPollMs, longestPollMs, giveUpMs });
  }

  const snapshot: Client['snapshot'] = async (id, { signal } = {}) =>
    asSnapshot(await transport.send({ method: 'GET', path: `${RUNS}/${segment(id)}`, signal }));

  const noteList = async (query: NoteQuery): Promise<NoteList> =>
    asListed<NoteList>(await transport.send({ method: 'GET', path: NOTES, query: { ...query } }), 'notes');

  return {
    async create(run, given = {}) {
      onlyKnown(given, CREATE_OPTIONS);
      const { idempotencyKey = nextKey(), signal, ...reading } = given;
      const body = await transport.send({ method: 'POST', path: RUNS, body: run, idempotencyKey, signal });
      return handle(asSnapshot(body).id, reading);
    },
    run(id, given = {}) {
      onlyKnown(given, READ_OPTIONS);
      return handle(id, given);
    },
    snapshot,
    frames: (id, query = {}, { signal } = {}) =>
      openFrames(transport, `${RUNS}/${segment(id)}/stream`, { ...query }, signal),
    request: (path, { method = 'GET', ...rest } = {}) => transport.send({ method, path: `/api/v1${path}`, ...rest }),
    async page(id, query = {}) {
      const path = `${RUNS}/${segment(id)}/events`;
      return asPage(await transport.send({ method: 'GET', path, query: { ...query } }));
    },
    async list(query = {}) {
      return asListed<RunList>(await transport.send({ method: 'GET', path: RUNS, query: { ...query } }), 'runs');
    },
    async *facts(id) {
      for (let after = 0; ;) {
        const query = { after, limit: FACTS };
        const path = `${RUNS}/${segment(id)}/log`;
        const page = asListed<{ readonly facts: readonly { readonly seq: number }[]; readonly hasMore: boolean }>(
          await transport.send({ method: 'GET', path, query }),
          'facts',
        );
        yield* page.facts;
        after = page.facts.at(-1)?.seq ?? after;
        if (!page.hasMore || page.facts.length === 0) return;
      }
    },
    async prompt(id, iteration, turn) {
      const path = `${RUNS}/${segment(id)}/prompts/${segment(String(iteration))}`;
      return asListed<Prompt>(await transport.send({ method: 'GET', path, query: { turn } }), 'sections');
    },
    async allowances(run) {
      const body = await transport.send({ method: 'GET', path: ALLOWANCES, query: { run } });
      return asListed<{ readonly allowances: readonly Allowance[] }>(body, 'allowances').allowances;
    },
    async revokeAllowance(id, run, { idempotencyKey = nextKey(), signal } = {}) {
      const path = `${ALLOWANCES}/${segment(id)}`;
      await transport.send({ method: 'DELETE', path, query: { run }, idempotencyKey, signal });
    },
    notes: (query = {}) => noteList(query),
    async *everyNote({ bundle, user } = {}) {
      for (let cursor: string | undefined; ;) {
        const page = await noteList({ bundle, user, cursor, limit: NOTE_PAGE });
        yield* page.notes;
        cursor = page.nextCursor;
        if (!page.hasMore || cursor === undefined) return;
      }
    },
    async note(id, { bundle, user } = {}) {
      const query = { bundle, user };
      return asNote(await transport.send({ method: 'GET', path: `${NOTES}/${segment(id)}`, query }));
    },
    async changeNote(id, body, { bundle, user } = {}) {
      const query = { bundle, user };
      return asNote(await transport.send({ method: 'PATCH', path: `${NOTES}/${segment(id)}`, query, body }));
    },
    async deleteNote(id, { bundle, user } = {}, { idempotencyKey = nextKey(), signal } = {}) {
      const query = { bundle, user };
      await transport.send({ method: 'DELETE', path: `${NOTES}/${segment(id)}`, query, idempotencyKey, signal });
    },
    async accounts() {
      const body = await transport.send({ method: 'GET', path: ACCOUNTS });
      return asListed<{ readonly accounts: readonly Account[] }>(body, 'accounts').accounts;
    },
    async connectAccount(provider, claims) {
      const path = `${ACCOUNTS}/${segment(provider)}/connect`;
      return asSignIn(await transport.send({ method: 'POST', path, body: { claims }, idempotencyKey: nextKey() }));
    },
    async disconnectAccount(provider) {
      const path = `${ACCOUNTS}/${segment(provider)}`;
      await transport.send({ method: 'DELETE', path, idempotencyKey: nextKey() });
    },
    async *transcript(id, format = 'md') {
      const signal = new AbortController();
      try {
        const response = await transport.open(`${RUNS}/${segment(id)}/transcript`, { format }, signal.signal);
        const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = response.body?.getReader();
        const decoder = new TextDecoder();
        for (let read = await reader?.read(); read?.done === false; read = await reader?.read())
          yield decoder.decode(read.value, { stream: true });
      } finally {
        signal.abort();
      }
    },
    async replay(id, { bundle, upTo } = {}) {
      const body = { ...(bundle !== undefined && { bundle }), ...(upTo !== undefined && { upTo }) };
      const path = `${RUNS}/${segment(id)}/replay`;
      return asListed<ReplayReport>(await transport.send({ method: 'POST', path, body }), 'calls');
    },
    async usage(by, { from, to, per, user, agent, model } = {}) {
      const query = { by, from, to, per, user, agent, model };
      const body = await transport.send({ method: 'GET', path: '/api/v1/usage', query });
      return asListed<{ readonly rows: readonly UsageRow[] }>(body, 'rows').rows;
    },
  };
}

/** A name that nothing reads is a slip, and would be one in silence. */
function onlyKnown(options: object, known: ReadonlySet<string>): void {
  for (const name of Object.keys(options)) {
    if (known.has(name)) continue;
    const names = [...known].join(', ');
    throw new ClientError('invalid_option', `${name} is not an option; there are ${names}.`, { field: name });
  }
}

function positive(values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value > 0) continue; // not so for NaN either
    throw new ClientError('invalid_option', `${name} has to be more than zero.`, { field: name });
  }
}
