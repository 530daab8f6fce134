import { TreadleError } from '../../base/errors.ts';
import { Money } from '../../adapters/prices/money.ts';
import { runCase, type Attempt, type CaseOptions } from './run-case.ts';
import { confidence } from './statistics.ts';
import type { EvalCase } from './suite.ts';

export interface CaseReport {
  readonly name: string;
  readonly tags: readonly string[];
  readonly passed: boolean;
  /** The part of the repeats that had to pass. */
  readonly wanted: number;
  readonly passRate: number;
  /** In which the true rate lies, with 95 % confidence. */
  readonly interval: readonly [number, number];
  readonly attempts: readonly Attempt[];
}

export interface SuiteReport {
  /** Of this form of report. */
  readonly version: 1;
  readonly suite: string;
  readonly passed: boolean;
  readonly cases: readonly CaseReport[];
  readonly totals: {
    readonly cases: number;
    readonly failed: number;
    readonly attempts: number;
    readonly tokens: number;
    /** US dollars; undefined when a part of it is not known. */
    readonly cost: string | undefined;
    readonly ms: number;
  };
}

export interface SuiteOptions extends CaseOptions {
  /** What the suite is called in reports: its file when absent. */
  readonly title?: string | undefined;
  /** Only cases with one of these tags. */
  readonly tags?: readonly string[] | undefined;
  /** Only cases with this in their name. */
  readonly named?: string | undefined;
  readonly repeats?: number | undefined;
  readonly parallel?: number | undefined;
  /** After each case. */
  readonly onCase?: ((done: CaseReport, of: number) => void) | undefined;
}

const PARALLEL = 4;

/** Runs a suite. One that could not be begun throws; whatever goes wrong in a repeat fails that repeat. */
export async function runSuite(options: SuiteOptions): Promise<SuiteReport> {
  const { suite, file, tags, named } = options;
  const cases = suite.cases.filter(
    (one) =>
      (tags === undefined || tags.some((tag) => one.tags?.includes(tag) === true)) &&
      (named === undefined || one.name.toLowerCase().includes(named.toLowerCase())),
  );
  if (cases.length === 0)
    throw new TreadleError('suite_invalid', {
      place: file,
      found: 'no case with this name or tag',
      wanted: 'at least one',
    });
  const began = performance.now();
  const repeatsOf = (one: EvalCase): number => options.repeats ?? one.repeats ?? suite.repeats ?? 1;
  const jobs = cases.flatMap((one) => Array.from({ length: repeatsOf(one) }, () => one));
  const attempts = new Map<EvalCase, Attempt[]>(cases.map((one) => [one, []]));
  const reports: CaseReport[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let one = jobs[next++]; one !== undefined && options.signal?.aborted !== true; one = jobs[next++]) {
      const all = attempts.get(one) ?? [];
      all.push(await attempted(one, options));
      if (all.length < repeatsOf(one)) continue;
      const report = reportOf(one, all, one.pass_rate ?? suite.pass_rate ?? 1);
      reports.push(report);
      options.onCase?.(report, cases.length);
    }
  };
  const width = Math.min(options.parallel ?? suite.parallel ?? PARALLEL, jobs.length);
  await Promise.all(Array.from({ length: width }, lane));
  const inOrder = cases.flatMap((one) => reports.find(({ name }) => name === one.name) ?? []);
  const flat = inOrder.flatMap((one) => one.attempts);
  const failed = cases.length - inOrder.filter((one) => one.passed).length;
  return {
    version: 1,
    suite: options.title ?? file,
    passed: failed === 0,
    cases: inOrder,
    totals: {
      cases: cases.length,
      failed,
      attempts: flat.length,
      tokens: flat.reduce((sum, { tokens }) => sum + tokens, 0),
      cost: sumOf(flat),
      ms: Math.round(performance.now() - began),
    },
  };
}

async function attempted(one: EvalCase, options: CaseOptions): Promise<Attempt> {
  try {
    return await runCase(one, options);
  } catch (error) {
    // What is wrong with the bundle or the suite is wrong for every case, and is told as what it is.
    if (TreadleError.is(error) && /^(bundle|script|suite|plugin|tool)_/.test(error.code)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    return {
      status: 'error',
      answer: '',
      iterations: 0,
      actions: 0,
      tokens: 0,
      cost: undefined,
      ms: 0,
      failures: [`It could not be run: ${why}`],
    };
  }
}

function reportOf(one: EvalCase, attempts: readonly Attempt[], wanted: number): CaseReport {
  const passed = attempts.filter(({ failures }) => failures.length === 0).length;
  return {
    name: one.name,
    tags: one.tags ?? [],
    passed: passed / attempts.length >= wanted,
    wanted,
    passRate: passed / attempts.length,
    interval: confidence(passed, attempts.length),
    attempts,
  };
}

function sumOf(attempts: readonly Attempt[]): string | undefined {
  const costs = attempts.map(({ cost }) => cost);
  return costs.includes(undefined) ? undefined : Money.sum(0, ...costs.filter((cost) => cost !== undefined)).toFixed();
}
