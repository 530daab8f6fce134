// The rows of the table: where each number comes from, how it is written, and what we aim at.
import type { LoadName } from './load.ts';
import type { WorkloadName } from './workloads.ts';

export type Source = WorkloadName | LoadName | 'startup' | 'install';
export type Unit = 'us' | 'ms' | 'times' | 'rate' | 'bytes' | 'KB' | 'MB' | 'count';

/** What can be said of Treadle in one row. Ratios are Treadle over the other, medians of the rounds. */
export interface Standing {
  readonly value: number;
  readonly overFloor: number | undefined;
  /** Over the best peer. */
  readonly overBest: number | undefined;
  /** Over a peer by name. */
  over(peer: string): number | undefined;
}

export interface Row {
  readonly id: string;
  readonly label: string;
  readonly source: Source;
  readonly metric: string;
  readonly unit: Unit;
  readonly aim: string;
  /** Undefined: what it is compared with did not take part. */
  readonly met: (standing: Standing) => boolean | undefined;
  readonly higherIsBetter?: boolean;
}

const atMost = (limit: number, ratio: number | undefined) => (ratio === undefined ? undefined : ratio <= limit);
const atLeast = (limit: number, ratio: number | undefined) => (ratio === undefined ? undefined : ratio >= limit);
const overPi = (limit: number) => (standing: Standing) => atMost(limit, standing.over('pi 0.73'));
const plain = (limit: number) => (standing: Standing) => standing.value <= limit;

function both(...verdicts: (boolean | undefined)[]): boolean | undefined {
  if (verdicts.includes(false)) return false;
  return verdicts.includes(undefined) ? undefined : true;
}

export const rows: readonly Row[] = [
  {
    id: 'turn',
    label: 'one turn, one action',
    source: 'turn',
    metric: 'turn',
    unit: 'us',
    aim: '≤ 0.3× pi',
    met: overPi(0.3),
  },
  {
    id: 'action',
    label: 'each further action',
    source: 'further',
    metric: 'action',
    unit: 'us',
    aim: '≤ 8×, 0.3× pi',
    met: (it) => both(atMost(8, it.overFloor), overPi(0.3)(it)),
  },
  {
    id: 'parallel',
    label: 'each of 8 parallel actions',
    source: 'parallel',
    metric: 'call',
    unit: 'us',
    aim: '≤ 0.33× pi',
    met: overPi(0.33),
  },
  {
    id: 'history-200',
    label: 'turn 200 over turn 10',
    source: 'history',
    metric: 'over200',
    unit: 'times',
    aim: '≤ 1.1×',
    met: plain(1.1),
  },
  {
    id: 'history-500',
    label: 'turn 500 over turn 10',
    source: 'history',
    metric: 'over500',
    unit: 'times',
    aim: '≤ 1.1×',
    met: plain(1.1),
  },
  {
    id: 'history-recorded-200',
    label: 'turn 200 over turn 10, recorded',
    source: 'history-recorded',
    metric: 'over200',
    unit: 'times',
    aim: '≤ 1.1×',
    met: plain(1.1),
  },
  {
    id: 'history-recorded-500',
    label: 'turn 500 over turn 10, recorded',
    source: 'history-recorded',
    metric: 'over500',
    unit: 'times',
    aim: '≤ 1.1×',
    met: plain(1.1),
  },
  {
    id: 'http-history',
    label: 'CPU per past turn, over HTTP',
    source: 'http-history',
    metric: 'slope',
    unit: 'us',
    aim: '≤ 0.3× floor',
    met: (it) => atMost(0.3, it.overFloor),
  },
  {
    id: 'tools',
    label: '100 tools over 1',
    source: 'tools',
    metric: 'ratio',
    unit: 'times',
    aim: '≤ 1.1×',
    met: plain(1.1),
  },
  {
    id: 'chunk',
    label: 'per streamed chunk',
    source: 'stream',
    metric: 'chunk',
    unit: 'us',
    aim: '≤ 1 µs, 0.25× pi',
    met: (it) => both(it.value <= 1, overPi(0.25)(it)),
  },
  {
    id: 'first',
    label: 'first token',
    source: 'first',
    metric: 'token',
    unit: 'us',
    aim: '≤ 0.35× pi',
    met: overPi(0.35),
  },
  {
    id: 'first-http',
    label: 'first token over HTTP',
    source: 'first-http',
    metric: 'token',
    unit: 'us',
    aim: '≤ 0.45× pi',
    met: overPi(0.45),
  },
  {
    id: 'crowd-wall',
    label: '1,000 turns at once, over ideal',
    source: 'crowd',
    metric: 'wall',
    unit: 'times',
    aim: '≤ 1.6×',
    met: plain(1.6),
  },
  {
    id: 'crowd-lag',
    label: '… event-loop lag, p99',
    source: 'crowd',
    metric: 'lag',
    unit: 'ms',
    aim: '≤ 50 ms',
    met: plain(50),
  },
  {
    id: 'crowd-growth',
    label: '… growth of resident memory',
    source: 'crowd',
    metric: 'growth',
    unit: 'MB',
    aim: '≤ 0.8× pi',
    met: overPi(0.8),
  },
  {
    id: 'crowd-recorded-wall',
    label: '1,000 turns recorded, over ideal',
    source: 'crowd-recorded',
    metric: 'wall',
    unit: 'times',
    aim: '≤ 3×',
    met: plain(3),
  },
  {
    id: 'crowd-recorded-lag',
    label: '… event-loop lag, p99',
    source: 'crowd-recorded',
    metric: 'lag',
    unit: 'ms',
    aim: '',
    met: () => undefined,
  },
  {
    id: 'recorded-normal',
    label: 'recorded iterations, WAL NORMAL',
    source: 'recorded-normal',
    metric: 'rate',
    unit: 'rate',
    aim: '≥ 0.65× floor',
    met: (it) => atLeast(0.65, it.overFloor),
    higherIsBetter: true,
  },
  {
    id: 'recorded-full',
    label: '… FULL, one run alone',
    source: 'recorded-full',
    metric: 'rate',
    unit: 'rate',
    aim: '≥ 0.6× floor',
    met: (it) => atLeast(0.6, it.overFloor),
    higherIsBetter: true,
  },
  {
    id: 'recorded-full-100',
    label: '… FULL, 100 runs at once',
    source: 'recorded-full-100',
    metric: 'rate',
    unit: 'rate',
    aim: '≥ 1× floor',
    met: (it) => atLeast(1, it.overFloor),
    higherIsBetter: true,
  },
  {
    id: 'bytes-20',
    label: 'stored per iteration, runs of 20',
    source: 'bytes',
    metric: 'at20',
    unit: 'bytes',
    aim: '≤ 2.2× floor',
    met: (it) => atMost(2.2, it.overFloor),
  },
  {
    id: 'bytes-80',
    label: '… runs of 80',
    source: 'bytes',
    metric: 'at80',
    unit: 'bytes',
    aim: '≤ 2.2× floor',
    met: (it) => atMost(2.2, it.overFloor),
  },
  {
    id: 'heap',
    label: 'heap of a 200-turn conversation',
    source: 'heap',
    metric: 'kept',
    unit: 'KB',
    aim: '≤ 0.8× pi',
    met: overPi(0.8),
  },
  {
    id: 'server-runs',
    label: '1,000 runs over HTTP, 50 ms model',
    source: 'server-load',
    metric: 'wall',
    unit: 'ms',
    aim: '',
    met: () => undefined,
  },
  {
    id: 'server-delay',
    label: '… a fact to its frame, median',
    source: 'server-load',
    metric: 'p50',
    unit: 'ms',
    aim: '',
    met: () => undefined,
  },
  {
    id: 'server-delay-99',
    label: '… 99th of a hundred',
    source: 'server-load',
    metric: 'p99',
    unit: 'ms',
    aim: '',
    met: () => undefined,
  },
  {
    id: 'server-memory',
    label: '… resident memory, at most',
    source: 'server-load',
    metric: 'peak',
    unit: 'MB',
    aim: '',
    met: () => undefined,
  },
  {
    id: 'server-bytes',
    label: '… stored per run',
    source: 'server-load',
    metric: 'bytes',
    unit: 'bytes',
    aim: '',
    met: () => undefined,
  },
  {
    id: 'server-waiting-start',
    label: '100,000 waiting runs: start-up',
    source: 'server-waiting',
    metric: 'start',
    unit: 'ms',
    aim: '',
    met: () => undefined,
  },
  {
    id: 'server-waiting-memory',
    label: '… resident memory',
    source: 'server-waiting',
    metric: 'growth',
    unit: 'MB',
    aim: 'no memory',
    met: plain(10), // two starts of one process differ by some MB; 100,000 folds would be hundreds
  },
  {
    id: 'server-waiting-timers',
    label: '… timers',
    source: 'server-waiting',
    metric: 'timers',
    unit: 'count',
    aim: 'none',
    met: plain(0),
  },
  {
    id: 'server-page-first',
    label: '10,000 entries: first page, cold',
    source: 'server-pages',
    metric: 'first',
    unit: 'ms',
    aim: '',
    met: () => undefined,
  },
  {
    id: 'server-page-next',
    label: '… a further page of 100',
    source: 'server-pages',
    metric: 'next',
    unit: 'ms',
    aim: '',
    met: () => undefined,
  },
  {
    id: 'server-page-tail',
    label: '… asking for news',
    source: 'server-pages',
    metric: 'tail',
    unit: 'ms',
    aim: '',
    met: () => undefined,
  },
  {
    id: 'server-chunk',
    label: 'per chunk to each SSE reader',
    source: 'server-chunks',
    metric: 'reader',
    unit: 'us',
    aim: '≤ 2 µs',
    met: plain(2),
  },
  {
    id: 'import-loop',
    label: 'import of the loop, over node',
    source: 'startup',
    metric: 'loop',
    unit: 'ms',
    aim: '≤ 40 ms',
    met: plain(40),
  },
  {
    id: 'import',
    label: 'import of all, over node',
    source: 'startup',
    metric: 'all',
    unit: 'ms',
    aim: '≤ 80 ms',
    met: plain(80),
  },
  {
    id: 'version',
    label: 'treadle --version, over node',
    source: 'startup',
    metric: 'version',
    unit: 'ms',
    aim: '≤ 40 ms',
    met: plain(40),
  },
  {
    id: 'one-shot',
    label: 'first token of a one-shot',
    source: 'startup',
    metric: 'oneShot',
    unit: 'ms',
    aim: '≤ 250 ms',
    met: plain(250),
  },
  {
    id: 'install',
    label: 'installed with its dependencies',
    source: 'install',
    metric: 'size',
    unit: 'MB',
    aim: '≤ 20 MB',
    met: plain(20),
  },
];
