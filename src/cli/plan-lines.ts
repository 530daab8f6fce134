import type { PlanStep } from '../domain/plan.ts';
import type { Colors } from './terminal.ts';
import { harmless, wrap } from './text.ts';

const MARKS: { readonly [S in NonNullable<PlanStep['status']>]: string } = {
  doing: '▸',
  done: '✓',
  failed: '✗',
  skipped: '⊘',
};

/** The steps of a plan, each with its number and how it stands. */
export function planLines(steps: readonly PlanStep[], colors: Colors, columns: number): string[] {
  const isBegun = steps.some(({ status }) => status !== undefined);
  return steps.flatMap(({ title, status, note }, index) => {
    const mark = status === undefined ? ' ' : MARKS[status];
    const first = `  ${isBegun ? `${mark} ` : ''}${index + 1}. `;
    const text = harmless(note === undefined ? title : `${title} (${note})`);
    const lines = wrap(text, { columns, first, rest: ' '.repeat(first.length) });
    return lines.map((line) => painted(line, status, colors));
  });
}

function painted(line: string, status: PlanStep['status'], colors: Colors): string {
  switch (status) {
    case 'failed':
      return colors.red(line);
    case 'doing':
      return colors.bold(line);
    case 'done':
    case 'skipped':
      return colors.dim(line);
    case undefined:
      return line;
  }
}
