import process from 'node:process';
import { TreadleError } from '../base/errors.ts';
import { createClient, type Client, type RunSummary, type Snapshot } from '../client/index.ts';
import { dataFolder } from '../platform/hosting/data-folder.ts';
import { readServerFile } from '../platform/hosting/server-file.ts';
import type { Environment } from '../platform/bundle/environment.ts';
import { commandName } from './command-name.ts';
import type { Context } from './context.ts';

/** Options of every command that speaks to a server. */
export interface RemoteOptions {
  readonly url?: string;
  readonly key?: string;
  readonly data?: string;
  readonly json?: boolean;
}

/** Where the server is: what was named, else `TREADLE_URL`, else the one that serves the data folder. Throws `usage`. */
export function serverUrl(environment: Environment, { url, data }: RemoteOptions): string {
  const named = url ?? environment['TREADLE_URL'];
  if (named !== undefined && named !== '') return named;
  const folder = dataFolder({ named: data, environment, directory: process.cwd() });
  const note = readServerFile(folder);
  if (note !== undefined) return note.url;
  throw new TreadleError('usage', {
    found: `No server is up for ${folder}.`,
    hint: `start one with \`${commandName()} serve\`, or name one with --url or TREADLE_URL`,
  });
}

export function serverKey(environment: Environment, { key }: RemoteOptions): string | undefined {
  const given = key ?? environment['TREADLE_API_KEY'];
  return given === '' ? undefined : given;
}

/** A person waits in front of the command: so long a server may be away, and no longer. */
export const DEADLINE_MS = 5_000;

export function openClient({ environment }: Context, options: RemoteOptions): Client {
  return createClient({
    url: serverUrl(environment, options),
    key: serverKey(environment, options),
    deadlineMs: DEADLINE_MS,
  });
}

const PAGE = 100;
const MOST_PAGES = 50;
const MOST_MATCHES = 5;

/** The id of the run that `last`, an id or the beginning of one stands for. Throws `usage`, and what the client throws. */
export async function findRemoteRun(client: Client, named: string): Promise<string> {
  if (named === 'last') {
    const [newest] = (await client.list({ limit: 1 })).runs;
    if (newest !== undefined) return newest.id;
    throw new TreadleError('usage', { place: 'RUN', found: 'last, and the server has no runs' });
  }
  const matches: RunSummary[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES && matches.length < MOST_MATCHES; page++) {
    const { runs, hasMore, nextCursor } = await client.list({ limit: PAGE, cursor, archived: 'any' });
    const exact = runs.find((one) => one.id === named);
    if (exact !== undefined) return exact.id;
    matches.push(...runs.filter(({ id }) => id.startsWith(named) || id.startsWith(`run_${named}`)));
    cursor = nextCursor;
    if (!hasMore) break;
  }
  const [match, other] = matches;
  if (match !== undefined && other === undefined) return match.id;
  if (match === undefined) return named; // perhaps one that lists do not show, such as a run below another
  throw new TreadleError('usage', {
    place: 'RUN',
    found: `${JSON.stringify(named)}, which is the beginning of several runs`,
    wanted: matches
      .slice(0, MOST_MATCHES)
      .map(({ id }) => id)
      .join(' or '),
  });
}

export type RemoteRequest = Snapshot['requests'][number];

/** The request that is meant: the one that was named, or the only one that can be answered so. Throws `usage`. */
export function findRequest(
  { id, requests }: Snapshot,
  named: string | undefined,
  decision: RemoteRequest['decisions'][number],
): RemoteRequest {
  const fitting = requests.filter((one) => (named === undefined ? one.decisions.includes(decision) : one.id === named));
  const [only, second] = fitting;
  if (only !== undefined && second === undefined) return only;
  const open = requests.map((one) => one.id).join(' or ');
  throw new TreadleError('usage', {
    place: 'REQUEST',
    found:
      named !== undefined
        ? JSON.stringify(named)
        : only === undefined
          ? 'nothing open that can be answered so'
          : 'no request, and several are open',
    wanted: open === '' ? undefined : open,
    hint: open === '' ? `see \`${commandName()} runs show ${id}\`` : undefined,
  });
}
