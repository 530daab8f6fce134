import { TreadleError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { baseAddress, segment } from '../../client/address.ts';
import { ClientError } from '../../client/client-error.ts';
import { createTransport } from '../../client/transport.ts';
import { randomIds } from '../../base/ids.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';
import { DEADLINE_MS, findRemoteRun, openClient, serverKey, serverUrl, type RemoteOptions } from '../remote.ts';

const PAGES_MAX = 4;
const PAGE = 50;
const AGENTS = '/api/v1/nexustrade/agents';

export interface InspectOptions extends RemoteOptions {
  readonly fixture?: boolean;
}

/**
 * How a run stands, in counts and states: no text, no prompt and no id leaves the program.
 *
 * A snapshot and at most four pages of 50. `--fixture` reads two pages that come with the program the same way, and asks
 * no server. Throws `usage`, and what the client throws.
 */
export async function inspect(context: Context, run: string | undefined, options: InspectOptions): Promise<Outcome> {
  const summary = options.fixture === true ? await fixtureSummary(run) : await runSummary(context, run, options);
  context.terminal.out.write(`${JSON.stringify(summary)}\n`);
  return 'completed';
}

async function fixtureSummary(run: string | undefined): Promise<object> {
  if (run !== undefined)
    throw new TreadleError('usage', {
      place: '--fixture',
      found: 'a run beside it',
      hint: 'leave out one of the two: the fixture is no run of a server',
    });
  const tally = await tallyOf(readFixture);
  return { mode: 'local fixture', uniqueMessages: tally.uniqueMessages, editedMessageReplaced: tally.replaced > 0 };
}

async function runSummary(context: Context, named = 'last', options: RemoteOptions): Promise<object> {
  const { id, state } = await standing(context, named, options);
  return { mode: 'existing run', ...state, ...(await tallyOf(readerOf(context, id, options))) };
}

/** A whole id is asked for as it is: only where no run has it, lists are searched for what begins so. */
async function standing(
  context: Context,
  named: string,
  options: RemoteOptions,
): Promise<{ readonly id: string; readonly state: RunState }> {
  let unknown: ClientError | undefined;
  if (named !== 'last') {
    try {
      return { id: named, state: await stateOf(context, named, options) };
    } catch (problem) {
      if (!(problem instanceof ClientError) || problem.code !== 'not_found') throw problem;
      unknown = problem;
    }
  }
  const id = await findRemoteRun(openClient(context, options), named);
  if (unknown !== undefined && id === named) throw unknown;
  return { id, state: await stateOf(context, id, options) };
}

/** Reads one page after a cursor. */
type ReadPage = (cursor: string | undefined) => unknown;

interface Tally {
  readonly pageStatus: string;
  readonly pageTerminal: boolean;
  readonly needsInput: boolean;
  readonly pendingApproval: string | null;
  readonly pages: number;
  readonly uniqueMessages: number;
  readonly replaced: number;
  /** Nothing was left to read. */
  readonly complete: boolean;
}

async function tallyOf(read: ReadPage): Promise<Tally> {
  const seen = new Map<string, unknown>();
  let replaced = 0;
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    const page = await read(cursor);
    if (!isObject(page) || !Array.isArray(page['events'])) throw malformed();
    for (const event of page['events'] as readonly unknown[]) {
      if (!isObject(event) || typeof event['id'] !== 'string') throw malformed();
      const { id, digest } = event;
      if (seen.has(id) && seen.get(id) !== digest) replaced++;
      seen.set(id, digest);
    }
    const { nextCursor, hasMore, status, terminal, needsInput, pendingApproval } = page;
    if (typeof nextCursor === 'string' && nextCursor !== '') cursor = nextCursor;
    if (hasMore === true && pages < PAGES_MAX) continue;
    const kind = isObject(pendingApproval) ? pendingApproval['kind'] : undefined;
    return {
      pageStatus: typeof status === 'string' ? status : 'unknown',
      pageTerminal: terminal === true,
      needsInput: needsInput === true,
      pendingApproval: typeof kind === 'string' ? kind : null,
      pages,
      uniqueMessages: seen.size,
      replaced,
      complete: hasMore !== true,
    };
  }
}

function readerOf(context: Context, run: string, options: RemoteOptions): ReadPage {
  const transport = transportOf(context, options);
  const path = `${AGENTS}/${segment(run)}/events`;
  return (cursor) => transport.send({ method: 'GET', path, query: { limit: PAGE, cursor } });
}

interface RunState {
  readonly snapshotStatus: string;
  readonly snapshotTerminal: boolean;
}

async function stateOf(context: Context, run: string, options: RemoteOptions): Promise<RunState> {
  const reply = await transportOf(context, options).send({ method: 'GET', path: `${AGENTS}/${segment(run)}` });
  const agent = isObject(reply) ? reply['agent'] : undefined;
  if (!isObject(agent)) throw malformed();
  const { status, terminal } = agent;
  return {
    snapshotStatus: typeof status === 'string' ? status : 'initializing',
    snapshotTerminal: terminal === true,
  };
}

function transportOf({ environment }: Context, options: RemoteOptions): ReturnType<typeof createTransport> {
  return createTransport({
    base: baseAddress(serverUrl(environment, options), false),
    key: serverKey(environment, options),
    fetch: (url, init) => fetch(url, init),
    requestTimeoutMs: 30_000,
    deadlineMs: DEADLINE_MS,
    fraction: () => randomIds.fraction(),
  });
}

function malformed(): ClientError {
  return new ClientError('invalid_response', 'The answer is not a page of a run.');
}

/** Two pages of which the second changes a message and adds one. */
const FIXTURE: Readonly<Record<string, unknown>> = {
  first: {
    events: [{ id: 'message-1', digest: 'draft', role: 'Assistant', text: 'An answer, half written.' }],
    nextCursor: 'second',
    hasMore: true,
    supersededFirst: false,
    status: 'running',
    needsInput: false,
    terminal: false,
  },
  second: {
    events: [
      { id: 'message-1', digest: 'final', role: 'Assistant', text: 'An answer, written to its end.' },
      { id: 'message-2', digest: 'only', role: 'Assistant', text: 'And one more.' },
    ],
    nextCursor: 'third',
    hasMore: false,
    supersededFirst: true,
    status: 'completed',
    needsInput: false,
    terminal: true,
  },
};

function readFixture(cursor: string | undefined): unknown {
  return FIXTURE[cursor ?? 'first'];
}
