// A client of the requirement wire, written from its published description alone: it imports nothing of this project,
// so that it can only rely on what the wire promises. The acceptance tests drive the server through it.

export interface AuroraOptions {
  /** The API base, with its version: `https://host/api/v1`. */
  readonly base: string;
  readonly key: string;
  /** First wait between two reads, its growth and its ceiling, in milliseconds. */
  readonly firstWaitMs?: number;
  readonly longestWaitMs?: number;
  /** How long nothing may happen before the iterator gives up. */
  readonly giveUpMs?: number;
}

export interface AuroraAgent {
  readonly id: string;
  readonly status: string;
  readonly prompt: string;
  readonly terminal: boolean;
}

export interface AuroraMessage {
  readonly id: string;
  readonly digest: string;
  readonly role: string;
  readonly text: string;
  readonly data?: unknown;
}

export interface AuroraPage {
  readonly events: readonly AuroraMessage[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
  readonly supersededFirst: boolean;
  readonly status: string;
  readonly needsInput: boolean;
  readonly terminal: boolean;
  readonly pendingApproval?: { readonly kind: string };
}

/** What the iterator hands out: a message that is new or changed, or a block that the caller has to lift. */
export type AuroraEvent =
  | { readonly type: 'message'; readonly message: AuroraMessage; readonly supersedes: boolean }
  | { readonly type: 'blocked'; readonly on: 'plan' | 'action' | 'input' };

export class AuroraError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface AuroraReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** One request, with whatever answer it gets. */
export async function auroraCall(
  { base, key }: AuroraOptions,
  method: string,
  path: string,
  { body, idempotencyKey }: { readonly body?: unknown; readonly idempotencyKey?: string } = {},
): Promise<AuroraReply> {
  const headers: Record<string, string> = { Authorization: `Bearer ${key}` };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey;
  const response = await fetch(`${base}/nexustrade/${path}`, {
    method,
    headers,
    signal: AbortSignal.timeout(30_000),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
}

export class Aurora {
  readonly #options: AuroraOptions;
  #made = 0;

  constructor(options: AuroraOptions) {
    this.#options = options;
  }

  async create(prompt: string, maxIterations?: number, idempotencyKey = this.nextKey('create')): Promise<AuroraRun> {
    const body = maxIterations === undefined ? { prompt } : { prompt, maxIterations };
    const agent = agentOf(await this.send('POST', 'agents', body, idempotencyKey));
    return new AuroraRun(this, this.#options, agent.id);
  }

  /** A run that exists already, from the beginning or from a cursor that was kept. */
  async attach(id: string, cursor?: string): Promise<AuroraRun> {
    await this.snapshot(id);
    return new AuroraRun(this, this.#options, id, cursor);
  }

  async snapshot(id: string): Promise<AuroraAgent> {
    return agentOf(await this.send('GET', `agents/${encode(id)}`));
  }

  async page(id: string, cursor?: string, limit = 50): Promise<AuroraPage> {
    const from = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await this.send('GET', `agents/${encode(id)}/events?limit=${limit}${from}`);
    if (!isObject(page) || !Array.isArray(page['events'])) throw new AuroraError(0, 'invalid_response', 'no page');
    return page as unknown as AuroraPage; // the fields that matter are compared by the tests
  }

  async send(method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<unknown> {
    const reply = await auroraCall(this.#options, method, path, {
      ...(body === undefined ? {} : { body }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    });
    if (reply.status >= 200 && reply.status < 300) return reply.body;
    const error = isObject(reply.body) && isObject(reply.body['error']) ? reply.body['error'] : {};
    const { code, message } = error;
    throw new AuroraError(
      reply.status,
      typeof code === 'string' ? code : 'api_error',
      typeof message === 'string' ? message : '',
    );
  }

  nextKey(about: string): string {
    return `aurora:${about}:${crypto.randomUUID()}:${(this.#made++).toString()}`;
  }
}

export class AuroraRun implements AsyncIterable<AuroraEvent> {
  readonly id: string;
  /** The newest record of each message, in the order in which they were first seen. */
  readonly messages = new Map<string, AuroraMessage>();
  status = 'initializing';
  terminal = false;
  cursor: string | undefined;
  readonly #aurora: Aurora;
  readonly #options: AuroraOptions;

  constructor(aurora: Aurora, options: AuroraOptions, id: string, cursor?: string) {
    this.#aurora = aurora;
    this.#options = options;
    this.id = id;
    this.cursor = cursor;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AuroraEvent> {
    const { firstWaitMs = 2_000, longestWaitMs = 15_000, giveUpMs = 900_000 } = this.#options;
    let wait = firstWaitMs;
    let quietSince = performance.now();
    let block: string | undefined;
    for (;;) {
      const page = await this.#aurora.page(this.id, this.cursor);
      const news = this.#take(page);
      for (const one of news) yield one;
      if (page.hasMore) continue;
      if (page.terminal) return;
      const on = blockOf(page);
      const now = on === undefined ? undefined : `${on} ${page.status} ${this.#lastDigest()}`;
      const isNew = on !== undefined && now !== block;
      block = now;
      if (isNew) yield { type: 'blocked', on };
      if (news.length > 0 || isNew) {
        wait = firstWaitMs;
        quietSince = performance.now();
        continue;
      }
      if (performance.now() - quietSince > giveUpMs)
        throw new AuroraError(0, on === undefined ? 'agent_timeout' : 'agent_awaiting_input', 'The run goes on.');
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(wait * 1.5, longestWaitMs);
    }
  }

  /** Remembers a page, and says what of it is news. */
  #take(page: AuroraPage): AuroraEvent[] {
    const news: AuroraEvent[] = [];
    for (const message of page.events) {
      const before = this.messages.get(message.id);
      this.messages.set(message.id, message);
      if (before?.digest === message.digest) continue;
      news.push({ type: 'message', message, supersedes: before !== undefined });
    }
    this.cursor = page.nextCursor;
    this.status = page.status;
    this.terminal = page.terminal;
    return news;
  }

  #lastDigest(): string {
    return [...this.messages.values()].map((one) => one.digest).join(' ');
  }

  approve(): Promise<AuroraAgent> {
    return this.#verb('approve');
  }

  reject(): Promise<AuroraAgent> {
    return this.#verb('reject');
  }

  stop(): Promise<AuroraAgent> {
    return this.#verb('stop');
  }

  say(content: string): Promise<AuroraAgent> {
    return this.#verb('messages', { content });
  }

  snapshot(): Promise<AuroraAgent> {
    return this.#aurora.snapshot(this.id);
  }

  get path(): string {
    return `agents/${encode(this.id)}`;
  }

  async #verb(verb: string, body: unknown = {}): Promise<AuroraAgent> {
    const key = this.#aurora.nextKey(verb);
    return agentOf(await this.#aurora.send('POST', `${this.path}/${verb}`, body, key));
  }
}

function blockOf({ pendingApproval, needsInput }: AuroraPage): 'plan' | 'action' | 'input' | undefined {
  const kind = pendingApproval?.kind;
  if (kind === 'plan' || kind === 'action') return kind;
  return needsInput ? 'input' : undefined;
}

function agentOf(reply: unknown): AuroraAgent {
  const agent = isObject(reply) ? reply['agent'] : undefined;
  if (!isObject(agent) || typeof agent['id'] !== 'string') throw new AuroraError(0, 'invalid_response', 'no agent');
  return agent as unknown as AuroraAgent; // as above
}

/** One encoder for ids, so that two clients ask for the same path. */
function encode(id: string): string {
  return encodeURIComponent(id).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
