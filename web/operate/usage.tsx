import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/calls.ts';
import type { UsageKey, UsageRow } from '../api/types.ts';
import { Failure, Notice } from '../ui/notice.tsx';
import { TokenBars, TokenCells, tokenFigures, TokenHeads } from '../ui/token-bars.tsx';
import { OperatePage } from './operate-page.tsx';

const KEYS: Readonly<Record<UsageKey, string>> = { day: 'Day', agent: 'Agent', model: 'Model', user: 'User' };

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
          <TokenBars rows={rows} />
          <div className="table-frame">
            <table>
              <thead>
                <tr>
                  <th scope="col">{KEYS[by]}</th>
                  <th scope="col" className="figure">
                    Calls
                  </th>
                  <TokenHeads />
                  <th scope="col" className="figure">
                    Money
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <tr key={row.name}>
                    <th scope="row">{row.name}</th>
                    <td className="figure">{row.calls.toLocaleString()}</td>
                    <TokenCells of={row} />
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
    name: key,
    calls,
    money: cost === undefined ? undefined : `$${cost.amount}`,
    ...tokenFigures(usage),
  };
}
