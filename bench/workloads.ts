// What a subject's process does in one batch. Every answer is compared with the expected one and every tool run is
// counted, outside the timer where that costs anything.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { directive, expected, type Exercise } from './script.ts';
import type { Subject, SubjectModule, SubjectOptions } from './subject.ts';

export type Metrics = Readonly<Record<string, number>>;

export interface Setup {
  readonly quick: boolean;
  /** Time is what the main thread has used of a processor. */
  readonly cpu: boolean;
  /** Wanted length of a batch. */
  readonly batchMs: number;
  /** Turns of the longest conversation that this subject can be asked for in reasonable time. */
  readonly longest: number;
  readonly baseUrl?: string;
}

export interface Workload {
  /** Prepares everything and returns the batch, which may be called again and again unless the workload is `fresh`. */
  readonly open: (create: SubjectModule['create'], setup: Setup) => Promise<() => Promise<Metrics>>;
  /** One process for each round, because one batch leaves the process warm, fat or both. */
  readonly fresh?: boolean;
  readonly http?: boolean;
  readonly log?: boolean;
  readonly rounds?: { readonly full: number; readonly quick: number };
}

type Shape = Omit<Exercise, 'id'>;

/** A subject whose every answer is checked. */
interface Checked {
  readonly subject: Subject;
  turn(shape: Shape, options?: { conversation?: string; users?: number }): Promise<void>;
  stream(shape: Shape, onDelta: () => void): Promise<void>;
  /** Compares the tools that ran with those that were asked for. */
  settle(): Promise<void>;
}

let ids = 0;

async function check(create: SubjectModule['create'], options: Partial<SubjectOptions> = {}): Promise<Checked> {
  let asked = 0;
  let ran = 0;
  const subject = await create({ latencyMs: 0, tools: 1, ...options, onTool: () => ran++ });
  const compare = (said: string, shape: Shape, users?: number) => {
    asked += shape.calls;
    const wanted = expected({ id: 0, ...shape }, users);
    if (said !== wanted) throw new Error(`wrong answer: ${said.slice(0, 200)}; expected: ${wanted.slice(0, 200)}`);
  };
  return {
    subject,
    async turn(shape, { conversation, users } = {}) {
      const text = directive({ id: ++ids, ...shape });
      compare(await subject.run(conversation === undefined ? { text } : { text, conversation }), shape, users);
    },
    async stream(shape, onDelta) {
      compare(await subject.stream({ text: directive({ id: ++ids, ...shape }) }, onDelta), shape);
    },
    async settle() {
      if (ran !== asked) throw new Error(`${ran} tools ran, ${asked} were asked for`);
      await subject.tidy?.();
    },
  };
}

/** Runs `once` again and again for about `ms`, after a collection outside the timer. Returns milliseconds of one. */
function repeater(once: () => Promise<void>): (ms: number) => Promise<number> {
  let each = 0;
  return async (ms) => {
    globalThis.gc?.();
    await nextTick();
    const times = each === 0 ? 1 : Math.max(1, Math.round(ms / each));
    const started = performance.now();
    for (let time = 0; time < times; time++) await once();
    each = (performance.now() - started) / times;
    return each;
  };
}

/** One turn of a fresh conversation, over and over. `metric` is made of its microseconds. */
function turns(shape: Shape, metric: (us: number) => Metrics): Workload {
  return {
    async open(create, { batchMs }) {
      const subject = await check(create);
      const time = repeater(() => subject.turn(shape));
      return async () => {
        const us = (await time(batchMs)) * 1000;
        await subject.settle();
        return metric(us);
      };
    },
  };
}

const further: Workload = {
  async open(create, { batchMs }) {
    const subject = await check(create);
    const one = repeater(() => subject.turn({ calls: 1 }));
    const twenty = repeater(() => subject.turn({ calls: 20 }));
    return async () => {
      const difference = (await twenty(batchMs)) - (await one(batchMs / 2));
      await subject.settle();
      return { action: (difference / 19) * 1000 };
    };
  },
};

const tools: Workload = {
  async open(create, { batchMs }) {
    const few = await check(create);
    const many = await check(create, { tools: 100 });
    const one = repeater(() => few.turn({ calls: 1 }));
    const hundred = repeater(() => many.turn({ calls: 1 }));
    return async () => {
      const base = await one(batchMs / 2);
      const ratio = (await hundred(batchMs)) / base;
      await few.settle();
      await many.settle();
      return { ratio };
    };
  },
};

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Turn by turn through conversations of up to 500; what turns around the 200th and 500th cost over those around the 10th. */
function history(recorded: boolean): Workload {
  return {
    log: recorded,
    rounds: { full: 5, quick: 2 },
    async open(create, { batchMs, longest }) {
      const folder = recorded ? temporary() : undefined;
      const subject = await check(
        create,
        folder === undefined ? {} : { log: { file: path.join(folder, 'log.db'), sync: 'normal' } },
      );
      const around = (samples: readonly number[], turn: number) => samples.slice(turn - 6, turn + 5);
      return async () => {
        globalThis.gc?.();
        const at: Record<10 | 200 | 500, number[]> = { 10: [], 200: [], 500: [] };
        const until = performance.now() + batchMs;
        do {
          const conversation = `long-${++ids}`;
          const samples: number[] = [];
          for (let turn = 1; turn <= longest + 5; turn++) {
            const started = performance.now();
            await subject.turn({ calls: 1 }, { conversation });
            samples.push(performance.now() - started);
          }
          await subject.turn({ calls: 1, count: true }, { conversation, users: longest + 6 });
          for (const turn of [10, 200, 500] as const) at[turn].push(...around(samples, turn));
        } while (performance.now() < until);
        await subject.settle();
        const early = median(at[10]);
        return {
          turn10: early * 1000,
          over200: median(at[200]) / early,
          ...(longest >= 500 && { over500: median(at[500]) / early }),
        };
      };
    },
  };
}

/** How the client's CPU for a turn grows with the turns before it: the middle turn of two windows, far apart. */
const httpHistory: Workload = {
  http: true,
  rounds: { full: 5, quick: 2 },
  async open(create, { quick, baseUrl }) {
    const subject = await check(create, { baseUrl: baseUrl! });
    const long = quick ? 150 : 300;
    const window = 50;
    return async () => {
      globalThis.gc?.();
      const conversation = `long-${++ids}`;
      const samples: number[] = [];
      for (let turn = 0; turn < long; turn++) {
        const before = process.cpuUsage();
        await subject.turn({ calls: 1 }, { conversation });
        const { user, system } = process.cpuUsage(before);
        samples.push(user + system);
      }
      await subject.turn({ calls: 1, count: true }, { conversation, users: long + 1 });
      const early = median(samples.slice(0, window));
      return { slope: (median(samples.slice(-window)) - early) / (long - window), turn: early };
    };
  },
};

const stream: Workload = {
  async open(create, { batchMs }) {
    const chunks = 2000;
    const subject = await check(create);
    const time = repeater(() => subject.stream({ calls: 0, chunks }, () => undefined));
    return async () => ({ chunk: ((await time(batchMs)) / chunks) * 1000 });
  },
};

function first(http: boolean): Workload {
  return {
    http,
    async open(create, { batchMs, baseUrl }) {
      const subject = await check(create, http ? { baseUrl: baseUrl! } : {});
      return async () => {
        globalThis.gc?.();
        await nextTick();
        const samples: number[] = [];
        const until = performance.now() + batchMs;
        do {
          const started = performance.now();
          let token = 0;
          await subject.stream({ calls: 0, chunks: 20 }, () => {
            token ||= performance.now() - started;
          });
          samples.push(token * 1000);
        } while (performance.now() < until);
        return { token: median(samples) };
      };
    },
  };
}

/** A thousand turns of three actions at once, with a model that takes 50 ms: 200 ms if nothing else took any time. */
function crowd(recorded: boolean): Workload {
  return {
    fresh: true,
    log: recorded,
    rounds: { full: 3, quick: 1 },
    async open(create) {
      const folder = recorded ? temporary() : undefined;
      const log = folder && ({ log: { file: path.join(folder, 'log.db'), sync: 'normal' } } as const);
      const warm = await check(create);
      const until = performance.now() + 500;
      while (performance.now() < until) await warm.turn({ calls: 3 });
      const subject = await check(create, { latencyMs: 50, ...log });
      return async () => {
        globalThis.gc?.();
        await nextTick();
        const before = process.memoryUsage.rss();
        let peak = before;
        const late: number[] = [];
        let last = performance.now();
        const tick = setInterval(() => {
          const now = performance.now();
          // Who arrives during a block of 50 ms waits for 50, 49, 48 …: each of those counts.
          for (let lag = now - last - 1; lag > 0; lag--) late.push(lag);
          if (late.length === 0 || now - last <= 2) late.push(0);
          last = now;
          peak = Math.max(peak, process.memoryUsage.rss());
        }, 1);
        const started = performance.now();
        await Promise.all(Array.from({ length: 1000 }, () => subject.turn({ calls: 3 })));
        const wall = performance.now() - started;
        await nextTick();
        clearInterval(tick);
        await subject.settle();
        late.sort((a, b) => a - b);
        return {
          wall: wall / 200,
          lag: late[Math.floor(late.length * 0.99)] ?? 0,
          growth: (Math.max(peak, process.memoryUsage.rss()) - before) / 2 ** 20,
        };
      };
    },
  };
}

/** Runs of 20 iterations with every iteration stored: iterations in a second, `together` runs at a time. */
function recorded(sync: 'normal' | 'full', together: number): Workload {
  return {
    log: true,
    rounds: { full: 5, quick: 2 },
    async open(create, { batchMs }) {
      const subject = await check(create, { log: { file: path.join(temporary(), 'log.db'), sync } });
      const shape = { calls: 19 };
      const time = repeater(async () => {
        await Promise.all(Array.from({ length: together }, () => subject.turn(shape)));
      });
      return async () => {
        const ms = await time(Math.max(batchMs, 200));
        await subject.settle();
        return { rate: ((shape.calls + 1) * together * 1000) / ms };
      };
    },
  };
}

/** Bytes that a stored iteration takes, in runs of 20 and of 80. */
const bytes: Workload = {
  fresh: true,
  log: true,
  rounds: { full: 1, quick: 1 },
  async open(create) {
    const stored = async (runs: number, iterations: number) => {
      const folder = temporary();
      const subject = await check(create, { log: { file: path.join(folder, 'log.db'), sync: 'normal' } });
      for (let run = 0; run < runs; run++) await subject.turn({ calls: iterations - 1 });
      await subject.settle();
      await subject.subject.close();
      return size(folder);
    };
    const per = async (iterations: number) =>
      ((await stored(30, iterations)) - (await stored(10, iterations))) / (20 * iterations);
    return async () => ({ at20: await per(20), at80: await per(80) });
  },
};

/** Heap that a conversation of 200 turns keeps while it is in use. */
const heap: Workload = {
  fresh: true,
  rounds: { full: 3, quick: 1 },
  async open(create, { quick }) {
    const subject = await check(create);
    const walk = async (conversations: number) => {
      for (let one = 0; one < conversations; one++) {
        const conversation = `kept-${++ids}`;
        for (let turn = 0; turn < 200; turn++) await subject.turn({ calls: 1 }, { conversation });
      }
      await nextTick();
      globalThis.gc?.();
      return process.memoryUsage().heapUsed;
    };
    const conversations = quick ? 5 : 10;
    return async () => {
      const before = await walk(2);
      return { kept: ((await walk(conversations)) - before) / conversations / 1024 };
    };
  },
};

export const workloads = {
  turn: turns({ calls: 1 }, (us) => ({ turn: us })),
  further,
  parallel: turns({ calls: 40, parallel: 8 }, (us) => ({ call: us / 40 })),
  history: history(false),
  'history-recorded': history(true),
  'http-history': httpHistory,
  tools,
  stream,
  first: first(false),
  'first-http': first(true),
  crowd: crowd(false),
  'crowd-recorded': crowd(true),
  'recorded-normal': recorded('normal', 1),
  'recorded-full': recorded('full', 1),
  'recorded-full-100': recorded('full', 100),
  bytes,
  heap,
} satisfies Record<string, Workload>;

export type WorkloadName = keyof typeof workloads;

function temporary(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'treadle-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function size(folder: string): number {
  return readdirSync(folder)
    .map((name) => statSync(path.join(folder, name)).size)
    .reduce((sum, one) => sum + one, 0);
}
