// Numbers for people: the main table, and one with every peer.
import type { Row, Standing, Unit } from './rows.ts';

/** By subject: one number for each round. */
export type Numbers = ReadonlyMap<string, readonly number[]>;

export interface Answer {
  readonly row: Row;
  readonly numbers: Numbers;
}

const widths = [34, 17, 8, 8, 6, 17, 6, 4] as const;
const heads = ['', 'aim', 'floor', 'Treadle', '', 'best peer', '', 'met'] as const;

export function mainTable(answers: readonly Answer[]): string {
  const lines = [heads.map(cell).join(''), '─'.repeat(widths.reduce((sum, width) => sum + width, 0))];
  for (const { row, numbers } of answers) {
    const best = bestPeer(row, numbers);
    const standing = standingOf(row, numbers);
    const verdict = standing && row.met(standing);
    const cells = [
      row.label,
      row.aim,
      write(middle(numbers.get('floor')), row.unit),
      write(standing?.value, row.unit),
      ratio(standing?.overFloor),
      best === undefined ? '' : `${best} ${write(middle(numbers.get(best)), row.unit)}`,
      ratio(standing?.overBest),
      verdict === undefined ? '' : verdict ? 'yes' : 'NO',
    ];
    lines.push(cells.map(cell).join('').trimEnd());
  }
  return lines.join('\n');
}

export function peerTable(answers: readonly Answer[], peers: readonly string[]): string {
  const columns = peers.filter((peer) => answers.some(({ numbers }) => numbers.has(peer)));
  const line = (cells: readonly string[]) =>
    cells.map((text, at) => (at === 0 ? text.padEnd(34) : text.padStart(12))).join('');
  return [
    line(['', ...columns]),
    '─'.repeat(34 + 12 * columns.length),
    ...answers
      .filter(({ numbers }) => numbers.size > 0)
      .map(({ row, numbers }) =>
        line([row.label, ...columns.map((peer) => write(middle(numbers.get(peer)), row.unit))]).trimEnd(),
      ),
  ].join('\n');
}

export function standingOf(row: Row, numbers: Numbers): Standing | undefined {
  const value = middle(numbers.get('Treadle'));
  if (value === undefined) return undefined;
  const over = (name: string) => middleRatio(numbers.get('Treadle'), numbers.get(name));
  const best = bestPeer(row, numbers);
  return { value, overFloor: over('floor'), overBest: best === undefined ? undefined : over(best), over };
}

export function bestPeer(row: Row, numbers: Numbers): string | undefined {
  let best: string | undefined;
  for (const name of numbers.keys()) {
    if (name === 'floor' || name === 'Treadle') continue;
    const difference = best === undefined ? -1 : middle(numbers.get(name))! - middle(numbers.get(best))!;
    if (row.higherIsBetter === true && best !== undefined ? difference > 0 : difference < 0) best = name;
  }
  return best;
}

export function middle(values: readonly number[] | undefined): number | undefined {
  if (values === undefined || values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** The median of the rounds' ratios: what disturbs the machine for a round disturbs both. */
function middleRatio(ours: readonly number[] | undefined, theirs: readonly number[] | undefined): number | undefined {
  if (ours === undefined || theirs === undefined) return undefined;
  return middle(ours.slice(0, theirs.length).map((value, round) => value / theirs[round]!));
}

function cell(text: string, at: number): string {
  const width = widths[at] ?? 0;
  const right = at === 2 || at === 3 || at === 4 || at === 6;
  return right ? text.padStart(width) : (at > 4 ? '  ' : '') + text.padEnd(at > 4 ? width - 2 : width);
}

function ratio(value: number | undefined): string {
  return value === undefined ? '' : `${digits(value)}×`;
}

function write(value: number | undefined, unit: Unit): string {
  if (value === undefined) return '';
  switch (unit) {
    case 'us':
      return Math.abs(value) < 1000 ? `${digits(value)} µs` : `${digits(value / 1000)} ms`;
    case 'ms':
      return value < 1000 ? `${digits(value)} ms` : `${digits(value / 1000)} s`;
    case 'times':
      return `${digits(value)}×`;
    case 'rate':
      return `${Math.round(value).toLocaleString('en')}/s`;
    case 'bytes':
      return value < 10_000 ? `${Math.round(value)} B` : `${digits(value / 1024)} KB`;
    case 'KB':
      return value < 10_000 ? `${Math.round(value)} KB` : `${digits(value / 1024)} MB`;
    case 'MB':
      return `${digits(value)} MB`;
    case 'count':
      return String(value);
  }
}

/** Two figures below ten, none after the point above a hundred: no benchmark here knows more. */
function digits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size < 1 ? 2 : size < 10 ? 1 : 0);
}
