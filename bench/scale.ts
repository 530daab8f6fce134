// How far workers over one PostgreSQL go: `node bench/scale.ts [runs]`, or with `engines` after the runs for the engines side by
// side alone. Prints tables for docs/operations.md, in some five minutes on two cores. Sizes are options, see below: with
// `node bench/scale.ts 20 --alone 10 --rounds 1 --appends 100 --crowd 500 --idle 2` it says within two minutes whether all of it works.
//
// A run is four model calls without latency and three actions without work, so what is measured is Treadle and the database.
// Runs are spread over tenants, as those of a service are: all calls of one tenant add to the same account, one after another,
// and of a single tenant that account is all that would be measured. `--tenants 1` does so.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openPostgresLog } from '../src/adapters/stores/postgres.ts';
import { systemClock } from '../src/base/clock.ts';
import type { Log } from '../src/kernel/log.ts';
import { ENGINES, type EngineName } from '../src/platform/hosting/engine.ts';
import { openStorage } from '../src/platform/hosting/storage.ts';
import { startPostgres, type Cluster } from '../test/support/postgres.ts';

const ROOT = path.join(import.meta.dirname, '..');
const BUNDLE = path.join(ROOT, 'test/scale/fixtures/effects.yaml');
const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tenants: { type: 'string', default: '50' },
    /** How many workers there are, one after another. */
    workers: { type: 'string', default: '1,2,4' },
    /** Runs of each engine that are begun one at a time. */
    alone: { type: 'string', default: '100' },
    /** How often each engine gets the runs at once. */
    rounds: { type: 'string', default: '3' },
    /** Fenced appends of one conversation; of sixteen at once each makes a quarter of that. */
    appends: { type: 'string', default: '2000' },
    /** Runs that wait for people. */
    crowd: { type: 'string', default: '10000' },
    /** Seconds for which is counted what idle workers do. */
    idle: { type: 'string', default: '20' },
  },
});
const RUNS = sizeOf('runs', positionals[0] ?? '200');
const TENANTS = sizeOf('--tenants', given.tenants);
const WORKERS = given.workers.split(',').map((count) => sizeOf('--workers', count));
const ALONE = sizeOf('--alone', given.alone);
const ROUNDS = sizeOf('--rounds', given.rounds);
const APPENDS = sizeOf('--appends', given.appends);
const CROWD = sizeOf('--crowd', given.crowd);
const IDLE_MS = sizeOf('--idle', given.idle) * 1_000;
/** The server counts up to ten seconds later what a connection did, once that idles. */
const SETTLE_MS = 12_000;

const cluster = await startPostgres({
  safe: true,
  settings: ['max_connections=200', 'shared_buffers=256MB', 'track_io_timing=on'],
});
const folder = mkdtempSync(path.join(tmpdir(), 'treadle-scale-'));
try {
  await engines();
  if (positionals[1] !== 'engines') {
    console.log(
      '\n| Workers | Runs a second | A run, p50 | p99 | Transactions a run | Processor a run: workers | database | Bytes a run |',
    );
    console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
    for (const workers of WORKERS) await measure(workers);
    await appends();
    await idle();
  }
} finally {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}

function sizeOf(name: string, text: string): number {
  const size = Number(text);
  if (Number.isInteger(size) && size > 0) return size;
  console.error(`${name}: found ${JSON.stringify(text)}, wanted a whole number above 0`);
  process.exit(2);
}

async function measure(count: number): Promise<void> {
  const schema = `w${count}`;
  const url = `${cluster.url}?schema=${schema}`;
  const log = await openPostgresLog({ url, clock: systemClock, origin: 'bench' });
  const workers = await Promise.all(Array.from({ length: count }, () => startWorker(url)));
  await begin(log, Math.ceil(RUNS / 10), 'warm');
  await until(log, Math.ceil(RUNS / 10));
  const pids = workers.flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  const before = { ...figures(cluster, schema), workers: processorMs(pids), database: databaseMs(cluster) };
  const began = performance.now();
  await begin(log, RUNS, 'run');
  await until(log, Math.ceil(RUNS / 10) + RUNS);
  const seconds = (performance.now() - began) / 1_000;
  const after = { ...figures(cluster, schema), workers: processorMs(pids), database: databaseMs(cluster) };
  for (const worker of workers) worker.kill('SIGTERM');
  const times: number[] = [];
  for (let index = 0; index < RUNS; index++) {
    const facts = await log.read(`run${index}`, 0, 1_000);
    times.push((facts.at(-1)?.at ?? 0) - (facts[0]?.at ?? 0));
  }
  times.sort((left, right) => left - right);
  await log.close();
  const cell = (share: number): string => `${times[Math.floor(share * (times.length - 1))] ?? 0} ms`;
  const each = (name: keyof typeof after): string => ((after[name] - before[name]) / RUNS).toFixed(0);
  const rate = (RUNS / seconds).toFixed(0);
  const spent = `${each('workers')} ms | ${each('database')} ms`;
  console.log(
    `| ${count} | ${rate} | ${cell(0.5)} | ${cell(0.99)} | ${each('transactions')} | ${spent} | ${each('bytes')} |`,
  );
}

async function begin(
  log: Log,
  count: number,
  name: string,
  text = `read 0 ${path.join(folder, 'effects')}`,
): Promise<void> {
  const meta = { agent: 'main', bundle: 'effects@1', userId: 'ana', agentPath: 'main' };
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const id = `${name}${index}`;
      await log.create({ id, ...meta, tenant: `t${index % TENANTS}`, createdAt: systemClock.now() });
      await log.post(id, { type: 'io.input', payload: { text, mode: 'message' } });
    }),
  );
}

async function until(log: Log, count: number): Promise<void> {
  while (((await log.counts()).completed ?? 0) < count) await pause(50);
}

function startWorker(url: string, engine: EngineName = 'embedded'): Promise<ChildProcess> {
  const main = path.join(ROOT, 'src/cli/main.ts');
  const env = { ...process.env, DATABASE_URL: url, OLLAMA_HOST: 'http://127.0.0.1:9' };
  const child = spawn(process.execPath, [main, 'worker', BUNDLE, '--log-level', 'error', '--engine', engine], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return new Promise((resolve, reject) => {
    child.stdout.once('data', () => resolve(child));
    child.once('exit', (code) => reject(new Error(`a worker ended with ${String(code)}`)));
  });
}

function figures({ sql }: Cluster, schema: string): { readonly transactions: number; readonly bytes: number } {
  const size = `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c JOIN pg_namespace n
    ON n.oid = c.relnamespace WHERE n.nspname = '${schema}' AND c.relkind = 'r'`;
  return {
    transactions: Number(sql(`SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'`)),
    bytes: Number(sql(size)),
  };
}

/** What hands out runs: a worker of each, in turns, since the machine is another one from minute to minute. Runs of one model call. */
async function engines(): Promise<void> {
  const sides = await Promise.all(ENGINES.map(startSide));
  for (let index = 0; index < ALONE; index++)
    for (const { log, waits } of sides) {
      await begin(log, 1, `alone${index}.`, 'quick');
      await ended(log, `alone${index}.0`);
      const [said, begun] = await log.read(`alone${index}.0`, 0, 2);
      waits.push((begun?.at ?? 0) - (said?.at ?? 0));
      await pause(Math.random() * 100); // not in step with whoever looks at times
    }
  for (let round = 0; round < ROUNDS; round++)
    for (const side of sides) {
      const began = performance.now();
      await begin(side.log, RUNS, `round${round}.`, 'quick');
      for (let index = 0; index < RUNS; index++) await ended(side.log, `round${round}.${index}`);
      side.rates.push(RUNS / ((performance.now() - began) / 1_000));
    }
  console.log('| Engine | Begins after, p50 | p99 | Runs a second | Idle transactions a second | Idle CPU |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  for (const { worker } of sides) worker.kill('SIGSTOP');
  for (const { name, worker, waits, rates } of sides) {
    worker.kill('SIGCONT');
    await pause(SETTLE_MS);
    const before = figures(cluster, name).transactions;
    const cpu = cpuOf(worker);
    await pause(IDLE_MS);
    const idle = ((figures(cluster, name).transactions - before) / IDLE_MS) * 1_000;
    const share = ((cpuOf(worker) - cpu) / IDLE_MS) * 100_000;
    worker.kill('SIGTERM');
    waits.sort((left, right) => left - right);
    rates.sort((left, right) => left - right);
    const cell = (part: number): string => `${waits[Math.floor(part * (waits.length - 1))] ?? 0} ms`;
    const rate = (rates[Math.floor(rates.length / 2)] ?? 0).toFixed(0);
    console.log(`| ${name} | ${cell(0.5)} | ${cell(0.99)} | ${rate} | ${idle.toFixed(1)} | ${share.toFixed(1)} % |`);
  }
  for (const { log, queue } of sides) {
    await queue?.close();
    await log.close();
  }
}

async function startSide(name: EngineName) {
  const url = `${cluster.url}?schema=${name}`;
  const { log, queue } = await openStorage({ engine: name, environment: { DATABASE_URL: url } });
  const worker = await startWorker(url, name);
  await begin(log, 20, 'warm', 'quick');
  await until(log, 20);
  return { name, log, queue, worker, waits: [] as number[], rates: [] as number[] };
}

async function ended(log: Log, id: string): Promise<void> {
  while ((await log.find(id))?.status !== 'completed') await pause(10);
}

/** Seconds of a processor that a process has had, where the system says so. */
function cpuOf({ pid = 0 }: ChildProcess): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11, 13) ?? [];
  return (Number(user) + Number(system)) / 100;
}

/**
 * What processes have had of a processor, which other work on the machine does not change as it changes the time that passes.
 * NaN where the system does not say.
 */
function processorMs(pids: readonly number[], column = 13): number {
  const ticks = pids.flatMap((pid) => {
    const fields = statOf(pid);
    return fields === undefined ? [NaN] : [Number(fields[column]), Number(fields[column + 1])];
  });
  return ticks.reduce((sum, one) => sum + one, 0) * 10;
}

/** Of the server, of its processes that live, and of those that have ended. */
function databaseMs({ pid }: Cluster): number {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = all.map(Number).filter((one) => Number(statOf(one)?.[3]) === pid());
  return processorMs([pid(), ...children]) + processorMs([pid()], 15);
}

/** The fields of `/proc/<pid>/stat`, from 0. */
function statOf(pid: number): readonly string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/\(.*\)/, 'name')
      .split(' ');
  } catch {
    return undefined;
  }
}

/** Fenced appends of one fact, one after another and from sixteen conversations at once. */
async function appends(): Promise<void> {
  const log = await openPostgresLog({
    url: `${cluster.url}?schema=appends&pool=16`,
    clock: systemClock,
    origin: 'bench',
  });
  const one = async (id: string, count: number): Promise<number[]> => {
    const meta = { agent: 'a', bundle: 'b@1', userId: 'u', tenant: 't', agentPath: 'a' };
    await log.create({ id, ...meta, createdAt: systemClock.now() });
    const lease = await log.take(id, 'bench', 600_000);
    if (lease === undefined) throw new Error('taken');
    const times: number[] = [];
    for (let head = 0; head < count; head++) {
      const began = performance.now();
      await log.append(lease, head, [{ type: 'io.output', turnId: 't1', payload: { text: 'x'.repeat(300) } }]);
      times.push(performance.now() - began);
    }
    return times.sort((left, right) => left - right);
  };
  const alone = await one('alone', APPENDS);
  const each = Math.ceil(APPENDS / 4);
  const began = performance.now();
  await Promise.all(Array.from({ length: 16 }, (_, index) => one(`c${index}`, each)));
  const rate = (16 * each) / ((performance.now() - began) / 1_000);
  const [p50, p99] = [0.5, 0.99].map((share) => (alone[Math.floor(share * alone.length)] ?? 0).toFixed(2));
  console.log(
    `\nA fenced append: p50 ${p50 ?? ''} ms, p99 ${p99 ?? ''} ms alone; ${rate.toFixed(0)} a second of sixteen at once.`,
  );
  await log.close();
}

/** What a server and a worker ask while ten thousand runs wait for people. */
async function idle(): Promise<void> {
  const url = `${cluster.url}?schema=idle`;
  await (await openPostgresLog({ url, clock: systemClock, origin: 'bench' })).close();
  cluster.sql(`INSERT INTO idle.conversations
    (id, agent, bundle, user_id, tenant, agent_path, created_at, updated_at, minute, status, continue_at)
    SELECT 'c' || n, 'main', 'effects@1', 'ana', 'acme', 'main', 0, 0, 0, 'pending_action_approval', 99999999999999
    FROM generate_series(1, ${CROWD}) n`);
  const worker = await startWorker(url);
  await pause(SETTLE_MS);
  const before = figures(cluster, 'idle').transactions;
  await pause(IDLE_MS);
  // Each look at the figures is a transaction or two of its own.
  const asked = figures(cluster, 'idle').transactions - before;
  worker.kill('SIGTERM');
  console.log(
    `${CROWD} runs that wait, one worker: ${asked} transactions in ${IDLE_MS / 1_000} seconds, those of this look included.`,
  );
}
