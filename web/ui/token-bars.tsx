import type { Key, ReactElement } from 'react';
import { Bar, CartesianGrid, ComposedChart, Line, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { TOKEN_PARTS, type TokenFigures } from './token-figures.ts';

export const TICK = { fill: 'var(--ink-faint)', fontSize: 12 };
export const TOOLTIP = {
  background: 'var(--raised)',
  border: '1px solid var(--line)',
  borderRadius: 8,
  color: 'var(--ink)',
  fontSize: 13,
};

/** What the colours of a chart stand for; `mark` is the line across the bars. */
export function ChartLegend({
  of,
  mark,
}: {
  readonly of: readonly { readonly name: string; readonly colour: string }[];
  readonly mark?: string | undefined;
}) {
  return (
    <ul className="legend">
      {of.map(({ name, colour }) => (
        <li key={name}>
          <span className="swatch" style={{ background: colour }} /> {name}
        </li>
      ))}
      {mark === undefined ? null : (
        <li>
          <span className="swatch-line" /> {mark}
        </li>
      )}
    </ul>
  );
}
export const COMPACT = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const whole = (value: number | string | readonly (number | string)[] | undefined): string =>
  typeof value === 'number' ? value.toLocaleString() : String(value);

export type TokenRow = TokenFigures & {
  readonly name: string;
  /** Tokens that a cache was expected to give. */
  readonly predicted?: number | undefined;
};

/** A bar a row, a colour a part; a mark where the cache was expected to reach. The table beside it says the same. */
export function TokenBars({ rows }: { readonly rows: readonly TokenRow[] }) {
  const isPredicted = rows.some(({ predicted }) => predicted !== undefined);
  return (
    <div className="chart" aria-hidden>
      <ChartLegend of={TOKEN_PARTS} mark={isPredicted ? 'Expected from the cache' : undefined} />
      <ResponsiveContainer width="100%" height={270}>
        <ComposedChart accessibilityLayer={false} data={[...rows]} margin={{ left: 0, right: 8, top: 8 }}>
          <CartesianGrid vertical={false} stroke="var(--line)" />
          <XAxis dataKey="name" tickLine={false} axisLine={false} tick={TICK} minTickGap={12} />
          <YAxis
            tickLine={false}
            axisLine={false}
            width={64}
            tick={TICK}
            tickFormatter={(value: number) => COMPACT.format(value)}
          />
          <Tooltip cursor={{ fill: 'var(--hover)' }} contentStyle={TOOLTIP} formatter={whole} />
          {TOKEN_PARTS.map(({ key, name, colour }) => (
            <Bar
              key={key}
              dataKey={key}
              name={name}
              stackId="tokens"
              fill={colour}
              maxBarSize={44}
              isAnimationActive={false}
            />
          ))}
          {isPredicted ? (
            <Line
              dataKey="predicted"
              name="Expected from the cache"
              stroke="var(--ink)"
              strokeWidth={0}
              isAnimationActive={false}
              dot={predictedMark}
              activeDot={predictedMark}
            />
          ) : null}
        </ComposedChart>
      </ResponsiveContainer>
    </div>
  );
}

interface DotProps {
  readonly key?: Key | null | undefined;
  readonly cx?: number | undefined;
  readonly cy?: number | undefined;
  readonly value?: unknown;
}

/** A line across the bar. */
function predictedMark({ key, cx, cy, value }: DotProps): ReactElement {
  if (cx === undefined || cy === undefined || typeof value !== 'number') return <g key={key} />;
  return (
    <line
      key={key}
      x1={cx - 26}
      x2={cx + 26}
      y1={cy}
      y2={cy}
      stroke="var(--ink)"
      strokeWidth={2}
      strokeDasharray="4 3"
    />
  );
}

export function TokenHeads() {
  return TOKEN_PARTS.map(({ key, name }) => (
    <th key={key} scope="col" className="figure">
      {name}
    </th>
  ));
}

export function TokenCells({ of }: { readonly of: TokenFigures }) {
  return TOKEN_PARTS.map(({ key }) => (
    <td key={key} className="figure">
      {of[key].toLocaleString()}
    </td>
  ));
}
