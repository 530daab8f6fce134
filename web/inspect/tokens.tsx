import { useMemo } from 'react';
import { Bar, BarChart, CartesianGrid, Legend, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { WireEntry } from '../api/types.ts';
import { dataOf } from '../state/entries.ts';
import { Notice } from '../ui/notice.tsx';

const PARTS = [
  { key: 'read', name: 'Cache read', colour: 'var(--series-1)' },
  { key: 'written', name: 'Cache write', colour: 'var(--series-2)' },
  { key: 'fresh', name: 'Fresh input', colour: 'var(--series-3)' },
  { key: 'output', name: 'Output', colour: 'var(--series-4)' },
] as const;

interface CallRow {
  readonly name: string;
  readonly model: string;
  readonly read: number;
  readonly written: number;
  readonly fresh: number;
  readonly output: number;
}

/** What each model call read, wrote and said, in tokens: first as a picture, then as a table. */
export function Tokens({ entries }: { readonly entries: readonly WireEntry[] }) {
  const rows = useMemo(() => rowsOf(entries), [entries]);
  const total = rows.reduce((sum, one) => sum + one.read + one.written + one.fresh + one.output, 0);
  if (total === 0)
    return (
      <Notice title="No tokens were reported">
        <p>No model call of this run has said yet what it used.</p>
      </Notice>
    );
  return (
    <div className="tokens">
      <div className="chart" aria-hidden>
        <ResponsiveContainer width="100%" height={280}>
          <BarChart data={[...rows]} margin={{ left: 4, right: 8, top: 8 }}>
            <CartesianGrid vertical={false} stroke="var(--line)" />
            <XAxis dataKey="name" tickLine={false} axisLine={false} tick={{ fill: 'var(--ink-faint)', fontSize: 12 }} />
            <YAxis tickLine={false} axisLine={false} width={56} tick={{ fill: 'var(--ink-faint)', fontSize: 12 }} />
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
            {PARTS.map(({ key, name, colour }) => (
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
      <div className="table-frame">
        <table>
          <caption className="visually-hidden">Tokens of each model call</caption>
          <thead>
            <tr>
              <th scope="col">Call</th>
              <th scope="col">Model</th>
              {PARTS.map(({ key, name }) => (
                <th key={key} scope="col" className="figure">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <th scope="row">{row.name}</th>
                <td>{row.model}</td>
                {PARTS.map(({ key }) => (
                  <td key={key} className="figure">
                    {row[key].toLocaleString()}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function rowsOf(entries: readonly WireEntry[]): readonly CallRow[] {
  return entries.flatMap((entry) => {
    const call = dataOf(entry, 'call');
    if (call === undefined) return [];
    const { usage } = call;
    return {
      name: `${entry.turn ?? 0}.${call.iteration}`,
      model: call.served ?? call.attempts.at(-1)?.model ?? '',
      read: usage.cacheRead ?? 0,
      written: (usage.cacheWrite ?? 0) + (usage.cacheWriteLong ?? 0),
      fresh: usage.input ?? 0,
      output: (usage.output ?? 0) + (usage.reasoning ?? 0),
    };
  });
}
