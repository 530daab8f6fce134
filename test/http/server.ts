// A server that listens, with the real host, the real loop and a scripted model.
import path from 'node:path';
import { createMemoryControlStore } from '../../src/adapters/stores/control/memory.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import { randomIds } from '../../src/base/ids.ts';
import { isObject } from '../../src/base/json.ts';
import { newApiKey } from '../../src/http/api-key.ts';
import { startServer, type ServerOptions, type TreadleServer } from '../../src/http/server.ts';
import type { Log } from '../../src/kernel/log.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import type { ApiKey, ControlStore } from '../../src/kernel/stores.ts';
import { createHost, type Host, type HostOptions } from '../../src/platform/hosting/host.ts';
import { temporaryFolder } from '../stores/temporary.ts';

export const OUTCOMES = path.join(import.meta.dirname, '../cli/fixtures/outcomes.yaml');

interface Ending {
  after(undo: () => unknown): void;
}

export interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly code: string | undefined;
  readonly headers: Headers;
}

export interface Call {
  readonly body?: unknown;
  /** The key to call with. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Served {
  readonly url: string;
  readonly host: Host;
  readonly log: Log;
  readonly control: ControlStore;
  readonly server: TreadleServer;
  /** Log lines for operators: level and message. */
  readonly lines: string[];
  readonly call: (method: string, path: string, call?: Call) => Promise<Reply>;
  /** A new API key. */
  readonly key: (more?: Partial<ApiKey>) => Promise<string>;
  /** Begins a run and gives its id. */
  readonly begin: (prompt: string, call?: Call) => Promise<string>;
  /** Reads the run until it rests, and gives its snapshot. */
  readonly rest: (id: string, call?: Call) => Promise<Record<string, unknown>>;
}

export interface ServedOptions extends Partial<Omit<ServerOptions, 'host'>> {
  readonly bundles?: readonly string[];
  readonly log?: Log;
  readonly wrap?: (host: Host) => Host;
  readonly environment?: HostOptions['environment'];
  readonly measures?: HostOptions['measures'];
  readonly models?: HostOptions['models'];
  readonly selections?: HostOptions['selections'];
  readonly notes?: HostOptions['notes'];
}

export async function aServer(t: Ending, options: ServedOptions = {}): Promise<Served> {
  const { clock = systemClock } = options;
  const log = options.log ?? createMemoryLog({ clock });
  const control = options.control ?? createMemoryControlStore({ clock });
  const lines: string[] = [];
  const logger: Logger = {
    debug: () => undefined,
    info: (message) => void lines.push(`info ${message}`),
    warn: (message) => void lines.push(`warn ${message}`),
    error: (message, fields) => void lines.push(`error ${message} ${String(fields?.['error'])}`),
  };
  const host = await createHost({
    bundles: options.bundles ?? [OUTCOMES],
    log,
    secret: 'a secret',
    environment: options.environment ?? {},
    logger,
    measures: options.measures,
    models: options.models,
    selections: options.selections,
    notes: options.notes,
  });
  const server = await startServer({
    control,
    clock,
    ids: randomIds,
    logger,
    version: '0.0.0',
    check: () => log.list({ limit: 1 }),
    cors: [],
    hostname: '127.0.0.1',
    port: 0,
    ...options,
    host: options.wrap?.(host) ?? host,
  });
  await host.start();
  t.after(async () => {
    await server.close({ drainMs: 0 });
    await host.close({ drainMs: 0 });
    await control.close();
  });

  const call: Served['call'] = async (method, at, { body, as, headers = {} } = {}) => {
    const given = await fetch(`${server.url}${at}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await given.text();
    const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : {};
    const reply = isObject(parsed) ? parsed : {};
    const error = reply['error'];
    const code = isObject(error) && typeof error['code'] === 'string' ? error['code'] : undefined;
    return { status: given.status, body: reply, code, headers: given.headers };
  };
  return {
    url: server.url,
    host,
    log,
    control,
    server,
    lines,
    call,
    async key(more = {}) {
      const { key, id, hash } = newApiKey();
      const scopes = ['read', 'run', 'approve'] as const;
      const owner = { userId: 'local', tenant: 'local', createdAt: clock.now() };
      await control.add({ id, hash, name: 'test', kind: 'user', scopes, ...owner, ...more });
      return key;
    },
    async begin(prompt, more) {
      const { body, status } = await call('POST', '/api/v1/runs', { body: { prompt }, ...more });
      if (typeof body['id'] !== 'string') throw new Error(`the run did not begin: ${status} ${JSON.stringify(body)}`);
      return body['id'];
    },
    async rest(id, more) {
      for (;;) {
        const { body } = await call('GET', `/api/v1/runs/${id}`, more);
        if (body['statusKind'] !== 'working') return body;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}

/** A file that a tool may add lines to. */
export function linesFile(t: Parameters<typeof temporaryFolder>[0]): string {
  return path.join(temporaryFolder(t), 'lines.txt');
}
