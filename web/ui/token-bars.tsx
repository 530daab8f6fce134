import { Bar, BarChart, CartesianGrid, Legend, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { CallData } from '../api/types.ts';

/** Tokens as people compare them: what a cache saved, what it cost, what was read in full, what was said. */
export const TOKEN_PARTS = [
  { key: 'read', name: 'Cache read', colour: 'var(--series-1)' },
  { key: 'written', name: 'Cache write', colour: 'var(--series-2)' },
  { key: 'fresh', name: 'Fresh input', colour: 'var(--series-3)' },
  { key: 'output', name: 'Output', colour: 'var(--series-4)' },
] as const;

export type TokenFigures = Readonly<Record<(typeof TOKEN_PARTS)[number]['key'], number>>;

/** A part that no provider reported counts as none: a picture has no place for what is unknown. */
export function tokenFigures(usage: CallData['usage']): TokenFigures {
  return {
    read: usage.cacheRead ?? 0,
    written: (usage.cacheWrite ?? 0) + (usage.cacheWriteLong ?? 0),
    fresh: usage.input ?? 0,
    output: (usage.output ?? 0) + (usage.reasoning ?? 0),
  };
}

const TICK = { fill: 'var(--ink-faint)', fontSize: 12 };

/** A bar a row, a colour a part. The table beside it says the same to whoever cannot see it. */
export function TokenBars({ rows }: { readonly rows: readonly (TokenFigures & { readonly name: string })[] }) {
  return (
    <div className="chart" aria-hidden>
      <ResponsiveContainer width="100%" height={270}>
        <BarChart data={[...rows]} margin={{ left: 4, right: 8, top: 8 }}>
          <CartesianGrid vertical={false} stroke="var(--line)" />
          <XAxis dataKey="name" tickLine={false} axisLine={false} tick={TICK} />
          <YAxis tickLine={false} axisLine={false} width={64} tick={TICK} />
          <Tooltip
            cursor={{ fill: 'var(--hover)' }}
            contentStyle={{
              background: 'var(--raised)',
              border: '1px solid var(--line)',
              borderRadius: 8,
              color: 'var(--ink)',
              fontSize: 13,
            }}
          />
          <Legend iconType="square" wrapperStyle={{ fontSize: 13 }} />
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
        </BarChart>
      </ResponsiveContainer>
    </div>
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
