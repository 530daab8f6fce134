import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { TreadleError } from '../../base/errors.ts';
import { fold } from '../../domain/fold.ts';
import type { CaseReport, SuiteReport } from '../../platform/eval/run-suite.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';
import { findRun, openLog } from '../open.ts';
import { onSignals } from '../signals.ts';
import { counted, harmless, wrap } from '../text.ts';
import { parseLimit } from './list.ts';

export interface EvalOptions {
  readonly tag?: readonly string[];
  readonly name?: string;
  readonly repeats?: string;
  readonly parallel?: string;
  readonly json?: boolean;
  readonly report?: string;
  readonly junit?: string;
  readonly quiet?: boolean;
}

/** Runs a suite of cases and says which hold. */
export async function evaluate(context: Context, named: string | undefined, options: EvalOptions): Promise<Outcome> {
  const { terminal, environment } = context;
  if (named === undefined) throw new TreadleError('usage', { place: 'SUITE', found: 'nothing', wanted: 'a file' });
  const file = path.resolve(named);
  const [{ readSuite }, { runSuite }] = await Promise.all([
    import('../../platform/eval/suite.ts'),
    import('../../platform/eval/run-suite.ts'),
  ]);
  const suite = readSuite(read(file, named), named);
  const repeats = options.repeats === undefined ? undefined : parseLimit(options.repeats, '--repeats');
  const parallel = options.parallel === undefined ? undefined : parseLimit(options.parallel, '--parallel');
  const interrupted = new AbortController();
  const off = onSignals({ interrupt: () => interrupted.abort(), terminate: () => interrupted.abort() });
  let done = 0;
  const tell = (report: CaseReport, of: number): void => {
    if (options.quiet !== true) terminal.err.write(caseLines(report, ++done, of, context).join('\n') + '\n');
  };
  try {
    const report = await runSuite({
      ...{ suite, file, named: options.name, environment, repeats, parallel, onCase: tell },
      ...{ title: named, tags: options.tag, signal: interrupted.signal },
    });
    if (options.report !== undefined) write(options.report, `${JSON.stringify(report, null, 2)}\n`);
    if (options.junit !== undefined) {
      const { junitOf } = await import('../../platform/eval/junit.ts');
      write(options.junit, junitOf(report));
    }
    if (options.json === true) terminal.out.write(`${JSON.stringify(report)}\n`);
    else terminal.out.write(`${summary(report)}\n`);
    if (interrupted.signal.aborted) return 'interrupted';
    return report.passed ? 'completed' : 'different';
  } finally {
    off();
  }
}

function caseLines(
  { name, passed, passRate, interval, attempts }: CaseReport,
  at: number,
  of: number,
  { terminal }: Context,
): readonly string[] {
  const { colors } = terminal;
  const columns = terminal.columns();
  const mark = passed ? colors.green('✓') : colors.red('✗');
  const few =
    attempts.length === 1
      ? ''
      : ` · ${percent(passRate)} of ${attempts.length} (95 %: ${percent(interval[0])} to ${percent(interval[1])})`;
  const failures = [...new Set(attempts.flatMap((one) => one.failures))];
  return [
    `${mark} ${harmless(name)}${colors.dim(`${few} · ${at} of ${of}`)}`,
    ...(passed && attempts.length === 1
      ? []
      : failures.flatMap((failure) => wrap(harmless(failure), { columns, first: '    ' }))),
  ];
}

function summary({ totals }: SuiteReport): string {
  const { cases, failed, attempts, tokens, cost } = totals;
  const money = cost === undefined ? 'cost unknown' : `$${cost}`;
  const ran = attempts === cases ? '' : `, ${counted(attempts, 'repeat')}`;
  return `${cases - failed} of ${counted(cases, 'case')} hold${ran} · ${counted(tokens, 'token')} · ${money}`;
}

function percent(rate: number): string {
  return `${Math.round(rate * 100)} %`;
}

export interface PromoteOptions {
  readonly to?: string;
  readonly as?: string;
  readonly scripted?: boolean;
  readonly data?: string;
}

/** Makes a case of a run, and adds it to a suite or prints one. */
export async function promote(
  { terminal, environment }: Context,
  named: string,
  options: PromoteOptions,
): Promise<Outcome> {
  const [{ caseOf, withCase }, { factsOf }] = await Promise.all([
    import('../../platform/eval/promote.ts'),
    import('../../platform/replay/replay.ts'),
  ]);
  const { log } = await openLog({ data: options.data, reads: true, environment });
  try {
    const row = await findRun(log, named);
    const facts = await factsOf(log, row.id);
    const made = caseOf(row, fold(row.id, row.agentPath, facts), facts, { scripted: options.scripted === true });
    const added = options.as === undefined ? made : { ...made, name: options.as };
    const file = options.to === undefined ? undefined : path.resolve(options.to);
    const folder = file === undefined ? path.resolve('.') : path.dirname(file);
    const bundle = path.isAbsolute(row.bundle) ? path.relative(folder, row.bundle) : row.bundle;
    const text = withCase(file !== undefined && existsSync(file) ? read(file, file) : undefined, added, bundle);
    if (file === undefined) terminal.out.write(text);
    else {
      write(file, text);
      terminal.err.write(`${harmless(added.name)}: added to ${options.to ?? file}\n`);
    }
    return 'completed';
  } finally {
    await log.close();
  }
}

function read(file: string, named: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new TreadleError('suite_invalid', {
      place: named,
      found: 'no file that can be read',
      wanted: 'a suite',
      cause,
    });
  }
}

function write(file: string, text: string): void {
  try {
    writeFileSync(path.resolve(file), text);
  } catch (cause) {
    throw new TreadleError('usage', { place: file, found: 'a file that cannot be written', cause });
  }
}
