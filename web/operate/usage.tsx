import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { api } from '../api/calls.ts';
import type { UsageKey, UsageRow } from '../api/types.ts';
import { Failure, Notice } from '../ui/notice.tsx';
import { OperatePage } from './operate-page.tsx';

const KEYS: Readonly<Record<UsageKey, string>> = { day: 'Day', agent: 'Agent', model: 'Model', user: 'User' };
const PARTS = [
  { key: 'cacheRead', name: 'Cache read', colour: 'var(--series-1)' },
  { key: 'written', name: 'Cache write', colour: 'var(--series-2)' },
  { key: 'input', name: 'Fresh input', colour: 'var(--series-3)' },
  { key: 'output', name: 'Output', colour: 'var(--series-4)' },
] as const;

/** What was spent, summed by whatever one wants to know. */
export function Usage() {
  const [by, setBy] = useState<UsageKey>('day');
  const usage = useQuery({ queryKey: ['usage', by], queryFn: () => api.usage(by) });
  const rows = (usage.data ?? []).map(figures);
  return (
    <OperatePage title="Usage" about="Tokens and money of every model call. What is unknown is not counted as free.">
      <div className="choices" role="radiogroup" aria-label="Sum by">
        {(Object.keys(KEYS) as UsageKey[]).map((key) => (
          <button
            key={key}
            type="button"
            className="button"
            role="radio"
            aria-checked={key === by}
            data-look={key === by ? 'solid' : 'plain'}
            onClick={() => {
              setBy(key);
            }}
          >
            {KEYS[key]}
          </button>
        ))}
      </div>
      {usage.isError ? (
        <Failure
          error={usage.error}
          onRetry={() => {
            void usage.refetch();
          }}
        />
      ) : null}
      {usage.isSuccess && rows.length === 0 ? (
        <Notice title="Nothing was used yet">
          <p>Model calls are counted from the first one on.</p>
        </Notice>
      ) : null}
      {rows.length === 0 ? null : (
        <>
          <div className="chart" aria-hidden>
            <ResponsiveContainer width="100%" height={240}>
              <BarChart data={rows} margin={{ left: 4, right: 8, top: 8 }}>
                <CartesianGrid vertical={false} stroke="var(--line)" />
                <XAxis
                  dataKey="key"
                  tickLine={false}
                  axisLine={false}
                  tick={{ fill: 'var(--ink-faint)', fontSize: 12 }}
                />
                <YAxis tickLine={false} axisLine={false} width={64} tick={{ fill: 'var(--ink-faint)', fontSize: 12 }} />
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
                {PARTS.map(({ key, name, colour }) => (
                  <Bar
                    key={key}
                    dataKey={key}
                    name={name}
                    stackId="all"
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
              <thead>
                <tr>
                  <th scope="col">{KEYS[by]}</th>
                  <th scope="col" className="figure">
                    Calls
                  </th>
                  {PARTS.map(({ key, name }) => (
                    <th key={key} scope="col" className="figure">
                      {name}
                    </th>
                  ))}
                  <th scope="col" className="figure">
                    Money
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <tr key={row.key}>
                    <th scope="row">{row.key}</th>
                    <td className="figure">{row.calls.toLocaleString()}</td>
                    {PARTS.map(({ key }) => (
                      <td key={key} className="figure">
                        {row[key].toLocaleString()}
                      </td>
                    ))}
                    <td className="figure">{row.money ?? 'unknown'}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </OperatePage>
  );
}

function figures({ key, calls, usage, cost }: UsageRow) {
  return {
    key,
    calls,
    cacheRead: usage.cacheRead ?? 0,
    written: (usage.cacheWrite ?? 0) + (usage.cacheWriteLong ?? 0),
    input: usage.input ?? 0,
    output: (usage.output ?? 0) + (usage.reasoning ?? 0),
    money: cost === undefined ? undefined : `$${cost.amount}`,
  };
}
