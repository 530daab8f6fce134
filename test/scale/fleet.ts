// Servers and workers as processes over one database, and the world in which their effects happen.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { openPostgresLog } from '../../src/adapters/stores/postgres.ts';
import { systemClock } from '../../src/base/clock.ts';
import { isObject } from '../../src/base/json.ts';
import { fold } from '../../src/domain/fold.ts';
import type { Fact } from '../../src/domain/event.ts';
import { statusOf } from '../../src/domain/run.ts';
import { statusKind } from '../../src/domain/status.ts';
import type { Log } from '../../src/kernel/log.ts';
import type { EngineName } from '../../src/platform/hosting/engine.ts';
import { start } from '../cli/treadle.ts';
import { temporaryFolder } from '../stores/temporary.ts';
import { brokenRules } from '../support/invariants.ts';

export const EFFECTS = path.join(import.meta.dirname, 'fixtures/effects.yaml');

const WORKS = /probes +(http:\/\/[^/]+)/m;

/** How long a worker that died keeps its runs in these tests. */
export const LEASE_MS = 2_000;

export interface Process {
  readonly child: ChildProcess;
  readonly url: string;
  /** All it has said on stderr. */
  readonly said: () => string;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Sends a signal and waits for the end. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>;
}

export interface Run {
  readonly id: string;
  readonly status: string;
  readonly statusKind: string;
  readonly requests: readonly { readonly id: string; readonly digest: string }[];
}

export interface Fleet {
  readonly folder: string;
  readonly serve: (...args: string[]) => Promise<Process>;
  readonly work: (...args: string[]) => Promise<Process>;
  /** A worker with variables of its own. */
  readonly workWith: (env: Readonly<Record<string, string>>, ...args: string[]) => Promise<Process>;
  /** A worker on a machine of its own. */
  readonly workAt: (machine: Machine, ...args: string[]) => Promise<Process>;
  /** Begins a run at a server. */
  readonly begin: (server: Process, prompt: string) => Promise<string>;
  readonly read: (server: Process, id: string) => Promise<Run>;
  readonly post: (server: Process, at: string, body: unknown) => Promise<number>;
  /** Waits until the run is at work no more, or fits. */
  readonly rest: (server: Process, id: string, fits?: (run: Run) => boolean) => Promise<Run>;
  /** A file for effects, and what happened in it: how often by idempotency key. */
  readonly world: () => { readonly file: string; readonly happened: () => Map<string, number> };
  /** The rules that a run breaks: its facts, its row and what happened in the world. */
  readonly broken: (id: string, happened?: Map<string, number>) => Promise<readonly string[]>;
  readonly facts: (id: string) => Promise<readonly Fact[]>;
  readonly log: () => Promise<Log>;
}

export interface Machine {
  /** The command that runs another one there. */
  readonly through: readonly string[];
  /** The address of the database as it is called there. */
  readonly url: string;
}

export interface FleetOptions {
  readonly url: string;
  readonly bundle?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What hands out runs to all of them. */
  readonly engine?: EngineName;
}

export function startFleet(
  t: TestContext,
  { url, bundle = EFFECTS, env = {}, engine = 'embedded' }: FleetOptions,
): Fleet {
  const folder = temporaryFolder(t);
  let worlds = 0;
  let opened: Promise<Log> | undefined;
  t.after(async () => (await opened)?.close());

  async function launch(
    command: string,
    args: readonly string[],
    says: RegExp,
    more: Readonly<Record<string, string>> = {},
    through: readonly string[] = [],
  ): Promise<Process> {
    const all = [command, bundle, '--engine', engine, '--lease', `${LEASE_MS}ms`, '--drain', '3s', ...args];
    const child = start(all, { cwd: folder, env: { DATABASE_URL: url, ...env, ...more }, through });
    t.after(() => child.kill('SIGKILL'));
    let out = '';
    let err = '';
    child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const address = await new Promise<string>((resolve, reject) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        out += chunk.toString();
        const found = says.exec(out);
        if (found !== null) resolve(found[1] ?? '');
      });
      child.once('exit', (code) => reject(new Error(`it ended with ${String(code)}: ${out}${err}`)));
    });
    return {
      child,
      url: address,
      said: () => err,
      signal: (signal) => void child.kill(signal),
      async end(signal) {
        const ended = once(child, 'exit');
        child.kill(signal);
        const [code] = (await ended) as [number | null];
        return code;
      },
    };
  }

  async function ask(server: Process, at: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const reply = await fetch(`${server.url}/api/v1${at}`, { ...sent, headers });
    return { status: reply.status, body: JSON.parse((await reply.text()) || '{}') as unknown };
  }

  async function read(server: Process, id: string): Promise<Run> {
    const { status, body } = await ask(server, `/runs/${id}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as Run; // as the run API describes it
  }

  const log = (): Promise<Log> =>
    (opened ??= openPostgresLog({ url, clock: systemClock, origin: `looker-${Math.random()}` }));

  async function facts(id: string): Promise<readonly Fact[]> {
    return (await log()).read(id, 0, 10_000);
  }

  return {
    folder,
    serve: (...args) => launch('serve', ['--port', '0', ...args], /^Treadle listens on (http:\S+)$/m),
    work: (...args) => launch('worker', ['--probes', '0', ...args], WORKS),
    workWith: (more, ...args) => launch('worker', ['--probes', '0', ...args], WORKS, more),
    workAt: (machine, ...args) =>
      launch('worker', ['--probes', '0', ...args], WORKS, { DATABASE_URL: machine.url }, machine.through),
    async begin(server, prompt) {
      const { status, body } = await ask(server, '/runs', { prompt });
      assert.ok(status === 202 && isObject(body), JSON.stringify(body));
      return String(body['id']);
    },
    read,
    post: async (server, at, body) => (await ask(server, at, body)).status,
    async rest(server, id, fits = (run) => run.statusKind !== 'working') {
      for (let left = 1_200; left > 0; left--) {
        const run = await read(server, id);
        if (fits(run)) return run;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return assert.fail(`the run ${id} does not come to rest`);
    },
    world() {
      const file = path.join(folder, `effects-${++worlds}`);
      return {
        file,
        happened() {
          const times = new Map<string, number>();
          const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
          for (const line of lines) {
            const [key = ''] = line.split(' ');
            if (key !== '') times.set(key, (times.get(key) ?? 0) + 1);
          }
          return times;
        },
      };
    },
    async broken(id, happened) {
      const all = await facts(id);
      const row = await (await log()).find(id);
      const broken = brokenRules(all, happened);
      if (row?.head !== all.length) broken.push(`I7 the row says ${row?.head ?? 0}, and there are ${all.length}`);
      const status = statusOf(fold(id, row?.agentPath ?? '', all));
      if (row?.status !== status) broken.push(`I7 the row says ${row?.status ?? ''}, the fold ${status}`);
      if (statusKind(status) === 'working') broken.push(`I8 the run is ${status}`);
      return broken;
    },
    facts,
    log,
  };
}
