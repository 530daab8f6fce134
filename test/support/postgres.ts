// A PostgreSQL of a test's own: found where Debian or the PATH has one, made in a temporary folder, gone with the test.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';

const DEBIAN = '/usr/lib/postgresql';

/** Why tests of PostgreSQL leave themselves out, or false. On CI they never do. */
export const withoutPostgres: string | false =
  process.env['CI'] === undefined && binaries() === undefined ? 'no PostgreSQL is installed here' : false;

export interface Cluster {
  /** Of its empty database. */
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** The process of the server itself. */
  readonly pid: () => number;
  /** Ends at once, as with a power cut. */
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
  readonly sql: (text: string) => string;
  readonly stop: () => Promise<void>;
}

export interface ClusterOptions {
  /** Further settings, such as `max_connections=10`. */
  readonly settings?: readonly string[];
  readonly folder?: string;
  /** Whether commits wait for the disk: what is killed has to. */
  readonly safe?: boolean;
  readonly address?: string;
}

/** Makes and starts one. To be stopped by whoever made it. */
export async function startPostgres(options: ClusterOptions = {}): Promise<Cluster> {
  const bin = binaries();
  if (bin === undefined) throw new Error('no PostgreSQL is installed here');
  const folder = options.folder ?? mkdtempSync(path.join(tmpdir(), 'treadle-pg-'));
  const data = path.join(folder, 'data');
  const identity = process.getuid?.() === 0 ? someoneElse() : undefined;
  if (identity !== undefined) chownSync(folder, identity.uid, identity.gid);
  const quiet = { ...identity, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] as ['ignore', 'ignore', 'pipe'] };
  const made = ['-D', data, '-U', 'treadle', '-A', 'trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'];
  execFileSync(path.join(bin, 'initdb'), made, quiet);
  const port = await freePort();
  const address = options.address ?? '127.0.0.1';
  const settings = [
    ...[`port=${port}`, `listen_addresses=${address}`, `unix_socket_directories=${folder}`, 'shared_buffers=16MB'],
    ...(options.safe === true ? [] : ['fsync=off']),
    ...(options.settings ?? []),
  ];
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const child = spawn(
      path.join(bin ?? '', 'postgres'),
      ['-D', data, ...settings.flatMap((one) => ['-c', one])],
      quiet,
    );
    let told = '';
    child.stderr.on('data', (chunk: Buffer) => (told = `${told}${chunk.toString()}`.slice(-4_000)));
    server = child;
    for (let left = 200; left > 0; left--) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended: ${told}`);
      if (isReady()) return;
      await pause(50);
    }
    throw new Error(`PostgreSQL did not start: ${told}`);
  }

  function isReady(): boolean {
    try {
      execFileSync(path.join(bin ?? '', 'pg_isready'), ['-q', '-h', folder, '-p', String(port)]);
      return true;
    } catch {
      return false;
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const child = server;
    server = undefined;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }

  process.once('exit', () => server?.kill('SIGQUIT'));
  await start();
  return {
    url: `postgres://treadle@${address}:${port}/postgres`,
    port,
    folder,
    pid: () => server?.pid ?? 0,
    kill: () => end('SIGKILL'),
    start,
    sql: (text) =>
      execFileSync(path.join(bin, 'psql'), [
        '-h',
        folder,
        '-p',
        String(port),
        '-U',
        'treadle',
        '-d',
        'postgres',
        '-qtAc',
        text,
      ])
        .toString()
        .trim(),
    async stop() {
      await end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function binaries(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((left, right) => Number(right) - Number(left)) : [];
  const folders = [...versions.map((one) => path.join(DEBIAN, one, 'bin')), ...(process.env['PATH'] ?? '').split(':')];
  return folders.find((folder) => existsSync(path.join(folder, 'initdb')));
}

/** PostgreSQL does not run as root. */
function someoneElse(): { uid: number; gid: number } | undefined {
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string): number => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }).toString());
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // the next one
    }
  }
  return undefined;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo; // it listens on a port
      probe.close(() => resolve(port));
    });
  });
}
