import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { Agent, fetch, type Response } from 'undici';
import { isPublicAddress, literalAddress } from './addresses.ts';

export interface GuardedRequest {
  readonly url: URL;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** Names of headers that only the first host may see. `authorization` and `cookie` always are. */
  readonly secret?: readonly string[];
  readonly signal: AbortSignal;
  /** Bytes of the answer; one that is longer is not read to its end. */
  readonly mostBytes: number;
}

export interface GuardedReply {
  readonly status: number;
  readonly statusText: string;
  readonly headers: { get(name: string): string | null } & Iterable<[string, string]>;
  readonly bytes: Uint8Array;
  /** Where it came from in the end. */
  readonly url: URL;
}

/** The one way out for requests to addresses that others may have chosen. */
export interface GuardedRequests {
  /** Rejects with a GuardRefusal where the guard says no, and with whatever the network says otherwise. */
  send(request: GuardedRequest): Promise<GuardedReply>;
  close(): Promise<void>;
}

/** The guard said no. `sent`: to the answer, after the request had gone out. */
export class GuardRefusal extends Error {
  override readonly name = 'GuardRefusal';
  readonly sent: boolean;

  constructor(message: string, sent = false) {
    super(message);
    this.sent = sent;
  }
}

type Lookup = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface GuardOptions {
  /** Hosts, with or without a port, that may have private addresses. */
  readonly allowHosts?: readonly string[] | undefined;
  /** The only hosts that are asked, with or without a port; `*.example.com` stands for every name under it. */
  readonly onlyHosts?: readonly string[] | undefined;
  readonly lookup?: Lookup;
}

const MOST_HOPS = 5;

/**
 * Requests to the public internet and to the hosts that the operator allows.
 *
 * A name is resolved once, every address that it has must be a public one, and the connection goes to an address that
 * was looked at, so that a name cannot mean something else a moment later. Redirects are followed for reading only, and
 * each place is looked at as the first one was; another host never sees the secrets of the first.
 */
export function createGuardedRequests({
  allowHosts = [],
  onlyHosts,
  lookup = systemLookup,
}: GuardOptions = {}): GuardedRequests {
  const only = onlyHosts?.map((host) => host.toLowerCase());
  const allowed = new Set(allowHosts.map((host) => host.toLowerCase()));
  const isAllowed = ({ hostname, host }: { readonly hostname: string; readonly host?: string }): boolean =>
    allowed.has(hostname) || (host !== undefined && allowed.has(host));
  // The ports of a host are told apart before a connection is made; here only the name is known.
  const names = new Set([...allowed].map((host) => host.replace(/:\d+$/, '')));

  const agent = new Agent({
    connect: {
      lookup(hostname, options, done) {
        lookup(hostname, { ...options, all: true }, (error, addresses) => {
          if (error !== null) {
            done(error, []);
            return;
          }
          const refused = names.has(hostname) ? undefined : addresses.find(({ address }) => !isPublicAddress(address));
          if (refused !== undefined) {
            done(new GuardRefusal(`${hostname} is at a private address`), []);
            return;
          }
          const [first] = addresses;
          if (first === undefined) {
            done(new Error(`${hostname} has no address`), []);
            return;
          }
          if (options.all === true) {
            done(null, addresses);
            return;
          }
          done(null, first.address, first.family);
        });
      },
    },
  });

  function check(url: URL): void {
    if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new GuardRefusal(`${url.protocol} is not asked`);
    if (only?.some((host) => isHost(url, host)) === false) {
      throw new GuardRefusal(`${url.host} is not among the hosts that are asked`);
    }
    if (isAllowed(url)) return;
    const address = literalAddress(url.hostname);
    if (address !== undefined && !isPublicAddress(address))
      throw new GuardRefusal(`${url.hostname} is a private address`);
    if (names.has(url.hostname)) throw new GuardRefusal(`${url.host} is another port than the one that is allowed`);
  }

  return {
    async send({ url, method = 'GET', headers = {}, body, secret = [], signal, mostBytes }) {
      const reads = method === 'GET' || method === 'HEAD';
      let at = url;
      let given = headers;
      for (let hop = 0; ; hop++) {
        check(at);
        const reply = await request(at, { method, headers: given, body, signal });
        const to = reads && reply.status >= 300 && reply.status < 400 ? reply.headers.get('location') : null;
        if (to === null) return await readReply(reply, at, mostBytes);
        await reply.body?.cancel();
        if (hop >= MOST_HOPS) throw new GuardRefusal(`more than ${MOST_HOPS} redirects`);
        const next = URL.parse(to, at.href);
        if (next === null) throw new GuardRefusal('a redirect to nowhere');
        if (at.protocol === 'https:' && next.protocol === 'http:') throw new GuardRefusal('a redirect to plain http');
        if (next.origin !== at.origin) given = withoutSecrets(given, secret);
        at = next;
      }
    },
    close: () => agent.destroy(),
  };

  async function request(
    url: URL,
    init: {
      method: string;
      headers: Readonly<Record<string, string>>;
      body: string | Uint8Array | undefined;
      signal: AbortSignal;
    },
  ): Promise<Response> {
    try {
      return await fetch(url, {
        ...init,
        headers: { ...init.headers },
        body: init.body ?? null,
        redirect: 'manual',
        dispatcher: agent,
      });
    } catch (error) {
      // The library wraps what its connection said.
      throw error instanceof Error && error.cause instanceof GuardRefusal ? error.cause : error;
    }
  }
}

/** Whether a URL is of a host as an operator writes it. */
function isHost({ hostname, host }: URL, written: string): boolean {
  if (!written.startsWith('*.')) return written === hostname || written === host;
  const under = written.slice(1);
  return hostname.endsWith(under) || host.endsWith(under);
}

async function readReply(reply: Response, url: URL, most: number): Promise<GuardedReply> {
  const { status, statusText, headers } = reply;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of reply.body ?? []) {
    const bytes = chunk as Uint8Array; // what a response's body is made of
    length += bytes.length;
    if (length > most) throw new GuardRefusal(`an answer of more than ${most} bytes`, true);
    chunks.push(bytes);
  }
  return { status, statusText, headers, bytes: Buffer.concat(chunks), url };
}

const ALWAYS_SECRET = ['authorization', 'cookie', 'proxy-authorization'];

function withoutSecrets(headers: Readonly<Record<string, string>>, secret: readonly string[]): Record<string, string> {
  const names = new Set([...ALWAYS_SECRET, ...secret.map((name) => name.toLowerCase())]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase())));
}
