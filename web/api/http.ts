import { ClientError, createClient, type Client } from '../../src/client/index.ts';
import { currentKey, refuseKey } from './key.ts';

/** What the server refused, in its own words. Status 0: it was not reached. */
export { ClientError as ApiError };

/** A person waits: so long a call is tried again before they are told. Milliseconds. */
const PATIENCE_MS = 8_000;

let made: { readonly key: string | undefined; readonly client: Client } | undefined;

/** The client of this server, with the key of this tab. Throws `invalid_token` for what cannot be a key. */
function client(): Client {
  const key = currentKey();
  if (made !== undefined && made.key === key) return made.client;
  try {
    // The page came the same way: whoever serves it in plain HTTP trusts the network.
    const options = { url: location.origin, plainHttp: true, deadlineMs: PATIENCE_MS };
    made = { key, client: createClient(key === undefined ? options : { ...options, key }) };
    return made.client;
  } catch (cause) {
    throw new ClientError('invalid_token', 'This is no API key.', { status: 401, cause });
  }
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  /** Makes a mutation safe to send twice. */
  readonly key?: string;
  readonly signal?: AbortSignal | undefined;
  /** It is sent also when the page goes away meanwhile. */
  readonly keepalive?: boolean;
}

/** A route's reply. The server is ours, and its replies are typed by its own description. */
export async function call<T>(path: string, { key, ...rest }: RequestOptions = {}): Promise<T> {
  const asked = key === undefined ? rest : { ...rest, idempotencyKey: key };
  return noticed(async () => (await client().request(path, asked)) as T); // see above
}

/** The frames of a run, as the server sends them. */
export function frames(...asked: Parameters<Client['frames']>): ReturnType<Client['frames']> {
  return noticed(() => client().frames(...asked));
}

/** The whole of a run to keep, in pieces as they come. */
export async function* transcript(...asked: Parameters<Client['transcript']>): ReturnType<Client['transcript']> {
  const pieces = client().transcript(...asked);
  for (;;) {
    const read = await noticed(() => pieces.next());
    if (read.done === true) return;
    yield read.value;
  }
}

/** Whoever is not let in any more is asked to sign in, wherever they are; what they wrote is kept. */
async function noticed<T>(work: () => Promise<T>): Promise<T> {
  const key = currentKey();
  try {
    return await work();
  } catch (error) {
    // A refusal of the key before this one says nothing.
    if (error instanceof ClientError && error.status === 401 && key === currentKey()) refuseKey(error);
    throw error;
  }
}
