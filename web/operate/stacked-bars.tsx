import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { ChartLegend, COMPACT, TICK, TOOLTIP } from '../ui/token-bars.tsx';
import { money } from '../ui/amounts.ts';
import type { Measure, Stacked } from './usage-model.ts';

/** A bar a day, a colour for each of those who spent. The table below says the same. */
export function StackedBars({ of: { series, columns }, measure }: { readonly of: Stacked; readonly measure: Measure }) {
  const inWords = (value: unknown): string =>
    typeof value !== 'number' ? '' : measure === 'cost' ? money(value) : value.toLocaleString();
  return (
    <div className="chart" aria-hidden>
      <ChartLegend of={series.map((name, index) => ({ name, colour: colourOf(index) }))} />
      <ResponsiveContainer width="100%" height={290}>
        <BarChart accessibilityLayer={false} data={[...columns]} margin={{ left: 0, right: 8, top: 8 }}>
          <CartesianGrid vertical={false} stroke="var(--line)" />
          <XAxis
            dataKey="period"
            tickLine={false}
            axisLine={false}
            tick={TICK}
            minTickGap={24}
            tickFormatter={dayInWords}
          />
          <YAxis
            tickLine={false}
            axisLine={false}
            width={64}
            tick={TICK}
            tickFormatter={(value: number) => (measure === 'cost' ? money(value) : COMPACT.format(value))}
          />
          <Tooltip cursor={{ fill: 'var(--hover)' }} contentStyle={TOOLTIP} formatter={inWords} />
          {series.map((name, index) => (
            <Bar
              key={name}
              dataKey={`s${index}`}
              name={name}
              stackId="all"
              fill={colourOf(index)}
              maxBarSize={44}
              isAnimationActive={false}
            />
          ))}
        </BarChart>
      </ResponsiveContainer>
    </div>
  );
}

function colourOf(index: number): string {
  return `var(--series-${Math.min(index, 7) + 1})`;
}

const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const MONTH = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' });

/** `30 Nov`, or `Nov 2026` for a month. */
export function dayInWords(period: string): string {
  const at = Date.parse(period);
  if (Number.isNaN(at)) return period;
  return (period.length === 7 ? MONTH : DAY).format(at);
}
