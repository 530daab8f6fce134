// What the acceptance cases are tried in: a server on a free port, the real host and loop, and a model that does what
// the prompt says. A prompt is a list of the model's answers, so that each case shows all of what happens in it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createScriptedModel } from '../../src/adapters/models/scripted.ts';
import type { Reply as ModelReply, ScriptFunction } from '../../src/adapters/models/script.ts';
import { createMemoryControlStore } from '../../src/adapters/stores/control/memory.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { randomIds } from '../../src/base/ids.ts';
import { isObject } from '../../src/base/json.ts';
import { createClient, type Client, type ClientOptions, type Page, type Snapshot } from '../../src/client/index.ts';
import { newApiKey } from '../../src/http/api-key.ts';
import { startServer, type ServerOptions, type TreadleServer } from '../../src/http/server.ts';
import type { Log } from '../../src/kernel/log.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import type { ApiKey } from '../../src/kernel/stores.ts';
import { createHost, type Host, type HostOptions } from '../../src/platform/hosting/host.ts';
import { Aurora } from './aurora-client.ts';

/** The model's answers, one for each of its calls; then it says that it is done. */
export function does(...replies: readonly ModelReply[]): string {
  return JSON.stringify(replies);
}

export function act(name: string, args: Readonly<Record<string, unknown>> = {}): { name: string; arguments: never } {
  return { name, arguments: args as never }; // plain JSON
}

/** One mail that a person has to agree to. */
export const mails = does({ actions: [act('mail', { to: 'Bo' })] });

const script: ScriptFunction = ({ userText, step }) => {
  if (!userText.startsWith('[')) return { text: `You said: ${userText}` };
  const replies = JSON.parse(userText) as readonly ModelReply[]; // as `does` wrote it
  return replies[step] ?? { text: 'Done.' };
};

const TOOLS = `
import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '${pathToFileURL(path.join(import.meta.dirname, '../../src/index.ts')).href}';
const object = (properties) => ({ type: 'object', properties, required: Object.keys(properties), additionalProperties: false });
const text = { type: 'string' };
const did = (what) => void globalThis.treadleAcceptance.push(what);
const tool = (name, effect, properties, run) => ({ name, description: name, effect, input: object(properties), run });
export const mail = tool('mail', 'once', { to: text }, ({ to }) => { did('mail ' + to); return 'sent to ' + to; });
export const look = tool('look', 'read', {}, () => { did('look'); return 'seen'; });
export const big = tool('big', 'read', { bytes: { type: 'integer' } }, ({ bytes }) => 'x'.repeat(bytes));
export const job = tool('job', 'idempotent', { ticket: text }, ({ ticket }) => waitFor({ ticket }));
export const slow = tool('slow', 'once', {}, async (_, { signal }) => {
  did('slow began');
  await pause(60_000, undefined, { signal });
  did('slow ended');
});
`;

const bundle = (plugins: string): string => `
id: acceptance
config:
  react:
    main: { parallel_tools: true, tool_timeout_ms: 8000 }
    chief: { parallel_tools: true, subagents: { max: 8 } }
    planner: { planning: { approval: always } }
plugins:
  active: [planner.static]
  planner.static: { steps: [Look, Mail] }
${plugins}
surfaces:
  as_consumer:
    default_agent: main
    agents:
      main: &grant
        tools:
          - { name: work, kind: module, module: ./work.tool.js, tool_traits: { mail: { approval: ask } } }
          - { name: ask, kind: module, module: builtin/ask_user }
      chief: *grant
      clerk: *grant
      planner: *grant
models:
  balanced: { provider: scripted, model: scripted }
`;

type Role = 'read' | 'run' | 'approve' | 'admin' | 'compute' | 'foreign';

const ROLES: Readonly<Record<Role, Partial<ApiKey>>> = {
  read: { scopes: ['read'] },
  run: { scopes: ['read', 'run'] },
  approve: {},
  admin: { scopes: ['admin'] },
  compute: { kind: 'compute' },
  foreign: { userId: 'bo' },
};

export interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly code: string | undefined;
  readonly headers: Headers;
}

export interface Call {
  readonly body?: unknown;
  readonly as?: Role;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A server over the log of the house. */
export interface Replica {
  readonly url: string;
  readonly host: Host;
  readonly server: TreadleServer;
  call(method: string, at: string, call?: Call): Promise<Reply>;
  client(options?: Partial<ClientOptions> & { readonly as?: Role }): Client;
  /** A client that was written from the description of the wire alone. */
  aurora(as?: Role): Aurora;
  /** Lets go of everything at once, as a process that is ended does. */
  end(): Promise<void>;
}

export interface House extends Replica {
  readonly log: Log;
  /** What tools have really done, in order. */
  readonly did: string[];
  readonly keys: Readonly<Record<Role, string>>;
  /** Begins a run. */
  begin(prompt: string, more?: Readonly<Record<string, unknown>>): Promise<string>;
  snapshot(id: string): Promise<Snapshot>;
  /** Waits until the run is like that. */
  until(id: string, holds: (run: Snapshot) => boolean): Promise<Snapshot>;
  rest(id: string): Promise<Snapshot>;
  page(id: string, query?: { readonly cursor?: string; readonly limit?: number }): Promise<Page>;
  /** Another server over the same log. */
  replica(options?: HouseOptions): Promise<Replica>;
}

export interface HouseOptions {
  readonly log?: Log;
  readonly clock?: Clock;
  /** Nothing is driven when false. */
  readonly drives?: boolean;
  /** Lines of the bundle's `plugins`. */
  readonly plugins?: string;
  readonly server?: Partial<Omit<ServerOptions, 'host'>>;
  readonly host?: Partial<HostOptions>;
}

interface Test {
  after(undo: () => unknown): void;
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const PATIENCE_MS = 20_000;

export async function aHouse(t: Test, options: HouseOptions = {}): Promise<House> {
  const { clock = systemClock } = options;
  const folder = mkdtempSync(path.join(tmpdir(), 'treadle-acceptance-'));
  writeFileSync(path.join(folder, 'acceptance.yaml'), bundle(options.plugins ?? ''));
  writeFileSync(path.join(folder, 'work.tool.js'), TOOLS);
  const did: string[] = [];
  Object.assign(globalThis, { treadleAcceptance: did });
  const log = options.log ?? createMemoryLog({ clock });
  const control = createMemoryControlStore({ clock });
  const keys: Partial<Record<Role, string>> = {};
  for (const [role, more] of Object.entries(ROLES)) {
    const { key, id, hash } = newApiKey();
    const owner = { userId: 'ana', tenant: 'local', createdAt: clock.now(), kind: 'user' as const, name: role };
    control.add({ id, hash, scopes: ['read', 'run', 'approve'], ...owner, ...more });
    keys[role as Role] = key; // an entry of the table
  }
  const allKeys = keys as Record<Role, string>; // all of them, by now
  const open: Replica[] = [];
  t.after(async () => {
    for (const one of [...open].reverse()) await one.end();
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function replica(more: HouseOptions = {}): Promise<Replica> {
    const merged = { ...options, ...more };
    const time = merged.clock ?? clock;
    const host = await createHost({
      bundles: [path.join(folder, 'acceptance.yaml')],
      log: { ...(more.log ?? log), close: () => undefined },
      secret: 'a secret',
      environment: {},
      logger: silent,
      clock: time,
      models: { open: () => createScriptedModel(script, { clock: time }) },
      ...merged.host,
    });
    const server = await startServer({
      control,
      clock: time,
      ids: randomIds,
      logger: silent,
      version: '0.0.0',
      check: () => log.list({ limit: 1 }),
      cors: [],
      hostname: '127.0.0.1',
      port: 0,
      ...merged.server,
      host,
    });
    if (merged.drives ?? true) await host.start();
    const { url } = server;
    const made: Replica = {
      url,
      host,
      server,
      async call(method, at, { body, as = 'approve', headers = {} } = {}) {
        const given = await fetch(url + at, {
          method,
          headers: {
            authorization: `Bearer ${allKeys[as]}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await given.text();
        const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : {};
        const reply = isObject(parsed) ? parsed : {};
        const error = isObject(reply['error']) ? reply['error'] : {};
        const code = typeof error['code'] === 'string' ? error['code'] : undefined;
        return { status: given.status, body: reply, code, headers: given.headers };
      },
      client: ({ as = 'approve', ...and } = {}) => createClient({ url, key: allKeys[as], ...and }),
      aurora: (as = 'approve') =>
        new Aurora({ base: `${url}/api/v1`, key: allKeys[as], firstWaitMs: 5, longestWaitMs: 20, giveUpMs: 10_000 }),
      async end() {
        if (open.includes(made)) open.splice(open.indexOf(made), 1);
        await server.close({ drainMs: 0 });
        await host.close({ drainMs: 0 });
      },
    };
    open.push(made);
    return made;
  }

  const first = await replica();
  const reader = (): Client => createClient({ url: (open.at(-1) ?? first).url, key: allKeys.admin });
  const house: House = {
    ...first,
    log,
    did,
    keys: allKeys,
    replica,
    async begin(prompt, more = {}) {
      const { status, body } = await first.call('POST', '/api/v1/runs', { body: { prompt, ...more } });
      if (typeof body['id'] !== 'string') throw new Error(`the run did not begin: ${status} ${JSON.stringify(body)}`);
      return body['id'];
    },
    snapshot: (id) => reader().snapshot(id),
    async until(id, holds) {
      const late = performance.now() + PATIENCE_MS;
      for (;;) {
        const run = await house.snapshot(id);
        if (holds(run)) return run;
        if (performance.now() > late)
          throw new Error(`it did not become so: ${JSON.stringify({ status: run.status, error: run.error })}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    rest: (id) => house.until(id, ({ statusKind }) => statusKind !== 'working'),
    page: (id, query) => reader().page(id, query),
  };
  return house;
}
