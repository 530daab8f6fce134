// What the real server takes: many runs at once with readers, a log full of runs that wait, pages of a long run, and one
// run with many readers. Each in a server process and a data folder of its own.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { directive } from './script.ts';
import { serve, type Served } from './served.ts';

export type Metrics = Readonly<Record<string, number>>;

const MB = 2 ** 20;

export interface Load {
  readonly measure: () => Promise<Metrics>;
  readonly rounds: number;
}

export const loads = {
  'server-load': { measure: load, rounds: 5 },
  'server-waiting': { measure: waiting, rounds: 1 },
  'server-pages': { measure: pages, rounds: 3 },
  'server-chunks': { measure: chunks, rounds: 3 },
} satisfies Record<string, Load>;

export type LoadName = keyof typeof loads;

const RUNS = 1000;
const READERS = 100;

/** 1,000 runs of three actions asked for at once; a tenth of them have been here before, and have a reader each. */
async function load(): Promise<Metrics> {
  return within(async (folder) => {
    const served = await serve(folder);
    const old = await Promise.all(Array.from({ length: READERS }, () => served.begin(directive({ id: 0, calls: 3 }))));
    await ended(served);
    const watched = await Promise.all(old.map((run) => watch(served, run)));
    const before = await served.held(true);
    let peak = before.rss;
    const look = setInterval(() => void served.held().then(({ rss }) => (peak = Math.max(peak, rss))), 250);
    const startedAt = Date.now();
    await Promise.all(
      Array.from({ length: RUNS }, async (_, number) => {
        const text = directive({ id: number, calls: 3 });
        const run = number % (RUNS / READERS) === 0 ? old[number / (RUNS / READERS)] : undefined;
        if (run === undefined) await served.begin(text);
        else await served.call('POST', `/api/v1/runs/${run}/messages`, { content: text });
      }),
    );
    await ended(served);
    const wall = Date.now() - startedAt;
    clearInterval(look);
    const after = await served.held(true);
    const delays = (await Promise.all(watched.map((one) => delaysOf(served, one, startedAt)))).flat();
    delays.sort((a, b) => a - b);
    for (const { leave } of watched) leave();
    await served.stop();
    return {
      wall,
      p50: at(delays, 0.5),
      p99: at(delays, 0.99),
      frames: delays.length,
      peak: peak / MB,
      heap: (after.heap - before.heap) / MB,
      cpu: after.cpu - before.cpu,
      bytes: size(folder) / (RUNS + READERS),
    };
  });
}

interface Watched {
  readonly run: string;
  readonly leave: () => void;
  /** Of each entry frame: what it is, and when it came. */
  readonly frames: { readonly revision: number; readonly id: string; readonly arrivedAt: number }[];
}

async function watch(served: Served, run: string): Promise<Watched> {
  const frames: Watched['frames'] = [];
  const reader = await served.follow(run, 'until=removed', (type, data, arrivedAt) => {
    if (type !== 'entry') return;
    const { entry } = JSON.parse(data) as { entry: { id: string; revision: number } };
    frames.push({ id: entry.id, revision: entry.revision, arrivedAt });
  });
  return { run, leave: () => reader.leave(), frames };
}

/** Milliseconds from each fact since then to its frame. Throws when a reader does not have what the page has. */
async function delaysOf({ call }: Served, { run, frames }: Watched, since: number): Promise<number[]> {
  const page = await call('GET', `/api/v1/runs/${run}/events?limit=100`);
  const isWhole = () => {
    const newest = new Map(frames.map(({ id, revision }) => [id, revision]));
    return (page['events'] as { id: string; revision: number }[]).every(
      ({ id, revision }) => newest.get(id) === revision,
    );
  };
  for (let look = 0; !isWhole(); look++) {
    if (look === 100) throw new Error(`the reader of ${run} does not have what the page has`);
    await sleep(50);
  }
  const { facts } = await call('GET', `/api/v1/runs/${run}/log?limit=1000`);
  const times = new Map((facts as { seq: number; at: number }[]).map(({ seq, at }) => [seq, at]));
  return frames
    .map(({ revision, arrivedAt }) => ({ stated: times.get(revision) ?? 0, arrivedAt }))
    .filter(({ stated }) => stated >= since)
    .map(({ stated, arrivedAt }) => arrivedAt - stated);
}

/** Asks until no run is at work, then that none has failed. */
async function ended({ call }: Served): Promise<void> {
  const has = async (status: string) => {
    const { runs } = await call('GET', `/api/v1/runs?status=${status}&limit=1`);
    return (runs as unknown[]).length > 0;
  };
  while (await has('initializing,running')) await sleep(25);
  if (await has('stopped,error,max_iterations_reached,plan_rejected')) throw new Error('a run has not completed');
}

const WAITING = 100_000;

/** Starting over a log of 100,000 runs that wait for an answer, against a log with one. The least of three starts each. */
async function waiting(): Promise<Metrics> {
  const starts = (count: number) =>
    within(async (folder) => {
      fill('waiting', folder, count);
      const found = { start: Infinity, rss: Infinity, timers: Infinity };
      for (let start = 0; start < 3; start++) {
        const served = await serve(folder);
        await sleep(500);
        const { rss, timers } = await served.held(true);
        found.start = Math.min(found.start, served.startMs);
        found.rss = Math.min(found.rss, rss / MB);
        found.timers = Math.min(found.timers, timers);
        const { runs } = await served.call('GET', '/api/v1/runs?status=pending_action_approval&limit=100');
        if ((runs as unknown[]).length !== Math.min(count, 100)) throw new Error('the runs do not wait');
        await served.stop();
      }
      return found;
    });
  const one = await starts(1);
  const many = await starts(WAITING);
  return {
    start: many.start - one.start,
    started: many.start,
    growth: many.rss - one.rss,
    rss: many.rss,
    timers: many.timers - one.timers,
  };
}

/** Pages of 50 of a run with 10,000 entries. */
async function pages(): Promise<Metrics> {
  return within(async (folder) => {
    const run = fill('pages', folder, 10_000);
    const served = await serve(folder);
    const page = async (query: string) => {
      const started = performance.now();
      const body = await served.call('GET', `/api/v1/runs/${run}/events?${query}`);
      return { ms: performance.now() - started, next: String(body['nextCursor']), body };
    };
    await served.call('GET', '/api/v1/runs?limit=1');
    const first = await page('limit=50');
    const again: number[] = [];
    for (let round = 0; round < 20; round++) again.push((await page('limit=50')).ms);
    const nexts: number[] = [];
    let entries = 50;
    let { next } = first;
    for (let hasMore = true; hasMore;) {
      const { ms, body, next: cursor } = await page(`limit=100&cursor=${next}`);
      nexts.push(ms);
      entries += (body['events'] as unknown[]).length;
      hasMore = body['hasMore'] === true;
      next = cursor;
    }
    if (entries < 10_000) throw new Error(`${entries} entries came`);
    const tails: number[] = [];
    for (let round = 0; round < 50; round++) tails.push((await page(`limit=50&cursor=${next}`)).ms);
    const { rss } = await served.held();
    await served.stop();
    return { first: first.ms, again: median(again), next: median(nexts), tail: median(tails), rss: rss / MB };
  });
}

/** What a run with 101 readers costs the server more than one with one, by chunk and reader, in microseconds. */
async function chunks(): Promise<Metrics> {
  return within(async (folder) => {
    const served = await serve(folder);
    const count = 500;
    const round = async (readers: number) => {
      const run = await served.begin(directive({ id: 0, calls: 0, chunks: count }));
      let text = '';
      let gaps = 0;
      const onFrame = (type: string, data: string) => {
        if (type === 'gap') gaps++;
        if (type === 'delta') text += (JSON.parse(data) as { delta: string }).delta;
      };
      const other = (type: string) => {
        if (type === 'gap') gaps++;
      };
      const all = await Promise.all(
        Array.from({ length: readers }, (_, number) =>
          served.follow(run, 'deltas=true', number === 0 ? onFrame : other),
        ),
      );
      const before = await served.held();
      await Promise.all(all.map(({ ended: over }) => over));
      const after = await served.held();
      if (gaps > 0 || text.split(' word').length !== count) throw new Error(`${gaps} gaps, ${text.length} characters`);
      return (after.cpu - before.cpu) * 1000;
    };
    await round(50);
    const alone = await round(1);
    const many = await round(101);
    await served.stop();
    return { reader: (many - alone) / 100 / count, alone: alone / count };
  });
}

function fill(what: 'pages' | 'waiting', folder: string, count: number): string {
  const args = ['--disable-warning=ExperimentalWarning', path.join(import.meta.dirname, 'fill.ts'), what, folder];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, String(count)], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

async function within<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'treadle-bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Of what stays in the folder: the write-ahead log is given back when the files are closed. */
function size(folder: string): number {
  return readdirSync(folder)
    .map((name) => statSync(path.join(folder, name)).size)
    .reduce((sum, one) => sum + one, 0);
}

const at = (sorted: readonly number[], share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
const median = (values: readonly number[]) =>
  at(
    [...values].sort((a, b) => a - b),
    0.5,
  );
