import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock, Instant } from '../../base/clock.ts';
import type { MaybePromise } from '../../base/promise.ts';
import type { RunStatus } from '../../domain/status.ts';
import { RUN_STATUSES } from '../../domain/status.ts';
import type { Bus } from '../../kernel/bus.ts';
import type { EngineHealth } from '../../kernel/engine.ts';
import type { Logger } from '../../kernel/logger.ts';
import { boundedLabel } from './bounded-label.ts';
import { heardFigures } from './heard.ts';

/** What is looked up when somebody asks for the figures. */
export interface FigureSources {
  readonly counts: () => MaybePromise<Readonly<Partial<Record<RunStatus, number>>>>;
  readonly health: () => Promise<EngineHealth>;
}

export interface FiguresOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
}

/** The figures of one process, for Prometheus. */
export interface Figures {
  /** Counts what is delivered from now on. The returned function ends it. */
  attach(bus: Pick<Bus, 'on'>): () => void;
  /** From now on runs and the queue are looked up here. */
  watch(sources: FigureSources): void;
  /** A request was answered. `route` is a name of a route table, never a path. */
  answered(request: {
    readonly route: string;
    readonly method: string;
    readonly status: number;
    readonly ms: number;
  }): void;
  /** So many streams are open. */
  streams(open: number): void;
  read(): Promise<{ readonly contentType: string; readonly text: string }>;
  /** Lets go of timers and observers. */
  close(): void;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);
/** A count of all runs reads every row: it is good for so long. */
const COUNTED_MS = 5_000;

export function createFigures({ clock, logger, version }: FiguresOptions): Figures {
  const book = new Registry();
  const registers = [book];
  collectDefaultMetrics({ register: book, prefix: 'treadle_' });
  let sources: FigureSources | undefined;
  let counted:
    { readonly at: Instant; readonly counts: Promise<Awaited<ReturnType<FigureSources['counts']>>> } | undefined;

  /** Looks something up, or leaves the figure out: a store that is in trouble must not hide all the others. */
  async function look<T>(what: string, read: (from: FigureSources) => MaybePromise<T>): Promise<T | undefined> {
    if (sources === undefined) return undefined;
    try {
      return await read(sources);
    } catch (error) {
      logger.warn('a figure could not be looked up', { figure: what, error });
      return undefined;
    }
  }

  function countRuns(from: FigureSources): Promise<Awaited<ReturnType<FigureSources['counts']>>> {
    const now = clock.now();
    if (counted === undefined || now - counted.at > COUNTED_MS || now < counted.at) {
      const counts = Promise.resolve(from.counts());
      counts.catch(() => (counted = undefined));
      counted = { at: now, counts };
    }
    return counted.counts;
  }

  new Gauge({
    name: 'treadle_build_info',
    help: 'Always 1; the version is a label.',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1);

  new Gauge({
    name: 'treadle_runs',
    help: 'Runs in the store, by status.',
    labelNames: ['status'],
    registers,
    async collect() {
      this.reset();
      const counts = await look('treadle_runs', countRuns);
      if (counts === undefined) return;
      for (const status of RUN_STATUSES) this.set({ status }, counts[status] ?? 0);
    },
  });

  const waiting = new Gauge({
    name: 'treadle_queue_waiting',
    help: 'Runs that have work and that nobody has taken yet, counted up to a thousand.',
    registers,
  });
  const running = new Gauge({ name: 'treadle_slices_running', help: 'Runs that this process drives now.', registers });
  const failing = new Gauge({
    name: 'treadle_slices_failing',
    help: 'Runs whose last slices failed in this process.',
    registers,
  });
  const overdue = new Gauge({
    name: 'treadle_queue_overdue_seconds',
    help: 'For how long nobody has taken what is due: the run of a dead worker, or one whose rest is over.',
    registers,
  });
  const queued = new Gauge({
    name: 'treadle_queue_rows',
    help: 'Rows in the queue of an engine that keeps one beside the log, and that are not begun.',
    registers,
  });
  new Gauge({
    name: 'treadle_queue_oldest_seconds',
    help: 'How long the longest waiting run with work has waited.',
    registers,
    async collect() {
      const health = await look('treadle_queue_oldest_seconds', (from) => from.health());
      for (const gauge of [this, waiting, running, failing, overdue, queued]) gauge.reset();
      if (health === undefined) return;
      waiting.set(health.waiting);
      running.set(health.running);
      failing.set(health.failing);
      overdue.set((health.overdueMs ?? 0) / 1000);
      queued.set(health.queued ?? 0);
      this.set(health.oldestReady === undefined ? 0 : Math.max(0, clock.now() - health.oldestReady) / 1000);
    },
  });

  const readers = new Gauge({ name: 'treadle_stream_readers', help: 'Open event streams.', registers });
  const route = boundedLabel(200);
  const requests = new Counter({
    name: 'treadle_http_requests_total',
    help: 'Requests that were answered.',
    labelNames: ['route', 'method', 'status'],
    registers,
  });
  const latency = new Histogram({
    name: 'treadle_http_request_seconds',
    help: 'Time from a request to its answer; of a stream, to its end.',
    labelNames: ['route', 'method'],
    buckets: SECONDS,
    registers,
  });
  const heard = heardFigures(registers, SECONDS);

  return {
    attach: (bus) => heard.attach(bus),
    watch(from) {
      sources = from;
      counted = undefined;
    },
    answered({ route: name, method, status, ms }) {
      const labels = { route: route(name), method: METHODS.has(method) ? method : 'OTHER' };
      requests.inc({ ...labels, status: String(status) });
      latency.observe(labels, ms / 1000);
    },
    streams(open) {
      readers.set(open);
    },
    async read() {
      return { contentType: book.contentType, text: await book.metrics() };
    },
    close() {
      book.clear();
    },
  };
}
