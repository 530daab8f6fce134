import { useMemo } from 'react';
import type { WireEntry } from '../api/types.ts';
import { dataOf } from '../state/entries.ts';
import { Notice } from '../ui/notice.tsx';
import { TokenBars, TokenCells, tokenFigures, TokenHeads, type TokenFigures } from '../ui/token-bars.tsx';

interface CallRow extends TokenFigures {
  readonly name: string;
  readonly model: string;
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
      <TokenBars rows={rows} />
      <div className="table-frame">
        <table>
          <caption className="visually-hidden">Tokens of each model call</caption>
          <thead>
            <tr>
              <th scope="col">Call</th>
              <th scope="col">Model</th>
              <TokenHeads />
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <th scope="row">{row.name}</th>
                <td>{row.model}</td>
                <TokenCells of={row} />
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
    return {
      name: `${entry.turn ?? 0}.${call.iteration}`,
      model: call.served ?? call.attempts.at(-1)?.model ?? '',
      ...tokenFigures(call.usage),
    };
  });
}
