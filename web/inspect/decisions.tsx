import { useMemo } from 'react';
import type { WireEntry } from '../api/types.ts';
import { dataOf } from '../state/entries.ts';
import { Notice } from '../ui/notice.tsx';

interface Row {
  readonly key: string;
  readonly about: string;
  readonly who: string;
  readonly said: string;
  readonly why: string;
}

/** Every word that gates and people had on what the agent wanted to do. */
export function Decisions({ entries }: { readonly entries: readonly WireEntry[] }) {
  const rows = useMemo(() => rowsOf(entries), [entries]);
  if (rows.length === 0)
    return (
      <Notice title="Nobody objected">
        <p>Every gate let everything pass, and no person was asked.</p>
      </Notice>
    );
  return (
    <div className="table-frame">
      <table>
        <thead>
          <tr>
            <th scope="col">About</th>
            <th scope="col">Who</th>
            <th scope="col">Said</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, about, who, said, why }) => (
            <tr key={key}>
              <th scope="row">{about}</th>
              <td>{who}</td>
              <td>{said}</td>
              <td>{why}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function rowsOf(entries: readonly WireEntry[]): readonly Row[] {
  return entries.flatMap((entry): readonly Row[] => {
    const action = dataOf(entry, 'action');
    if (action === undefined)
      return dataOf(entry, 'notice')?.kind === 'verdict'
        ? [{ key: entry.id, about: 'the turn', who: 'a gate', said: entry.text, why: '' }]
        : [];
    const verdicts = action.verdicts.map((one, index) => ({
      key: `${entry.id}-v${index}`,
      about: action.name,
      who: one.gate,
      said: one.verdict,
      why: one.reason ?? '',
    }));
    const answers = action.requests.map(({ request, question, answer, cancelled }) => ({
      key: `${entry.id}-${request}`,
      about: action.name,
      who: answer?.by ?? (cancelled === undefined ? 'nobody yet' : 'nobody'),
      said: answer?.decision ?? cancelled ?? 'waiting',
      why: answer?.note ?? question,
    }));
    return [...verdicts, ...answers];
  });
}
