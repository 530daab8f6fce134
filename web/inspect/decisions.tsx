import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { operate } from '../api/operate.ts';
import { duration } from '../clock.ts';
import { Failure, Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Segments } from '../ui/segments.tsx';
import type { WholeLog } from './use-log.ts';
import { verdictsOf, type Verdict } from './verdicts-of.ts';

/** Every word that gates and people had on what the agent wanted to do, in the order in which they were asked. */
export function Decisions({ agent, log }: { readonly agent: string | undefined; readonly log: WholeLog }) {
  // Where a gate stands among others is the operators' to know; without it the order of the log says who was first.
  const details = useQuery({
    queryKey: ['agent', agent],
    queryFn: () => operate.agent(agent ?? ''),
    enabled: agent !== undefined,
    retry: false,
  });
  const verdicts = useMemo(() => verdictsOf(log.facts, details.data?.plugins), [log.facts, details.data]);
  const [shown, setShown] = useState<'objections' | 'all'>('objections');
  if (log.error !== undefined && log.facts.length === 0) return <Failure error={log.error} onRetry={log.again} />;
  if (log.isReading) return <Skeleton kind="rows" count={8} />;
  if (verdicts.length === 0)
    return (
      <Notice title="Nobody objected">
        <p>Every gate let everything pass, and no person was asked.</p>
      </Notice>
    );
  const first = verdicts[0]?.at ?? 0;
  const revisions = verdicts.filter(isRevision).length;
  const isAll = shown === 'all' || revisions === verdicts.length;
  return (
    <>
      <Tally verdicts={verdicts} />
      {revisions === 0 || revisions === verdicts.length ? null : (
        <div className="toolbar filters">
          <Segments
            label="Which verdicts"
            value={shown}
            options={[
              { value: 'objections', label: `Objections and answers ${verdicts.length - revisions}` },
              { value: 'all', label: `With revisions ${verdicts.length}` },
            ]}
            onChange={setShown}
          />
        </div>
      )}
      <div className="table-frame" tabIndex={0} role="region" aria-label="Verdicts">
        <table role="table" className="verdicts">
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader" scope="col" className="figure">
                Fact
              </th>
              <th role="columnheader" scope="col">
                About
              </th>
              <th role="columnheader" scope="col">
                Who
              </th>
              <th role="columnheader" scope="col">
                Said
              </th>
              <th role="columnheader" scope="col">
                Why
              </th>
              <th role="columnheader" scope="col" className="figure">
                After
              </th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {verdicts
              .filter((one) => isAll || !isRevision(one))
              .map((one) => (
                <tr role="row" key={one.seq}>
                  <td role="cell" className="figure">
                    {one.seq}
                  </td>
                  <th role="rowheader" scope="row">
                    {one.about}
                  </th>
                  <td role="cell">
                    {one.isPerson ? one.who : <code>{one.who}</code>}
                    {one.priority === undefined ? null : <small className="cell-more">priority {one.priority}</small>}
                  </td>
                  <td role="cell">
                    <span className="chip" data-tone={one.tone}>
                      {one.said}
                    </span>
                  </td>
                  <td role="cell" className="verdict-why">
                    {one.why === '' ? '–' : one.why}
                  </td>
                  <td role="cell" className="figure">
                    {duration(one.at - first)}
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** What a gate made of something, without anything against it: many, and of little news. */
function isRevision({ said }: Verdict): boolean {
  return said === 'revise';
}

/** How often who said what. */
function Tally({ verdicts }: { readonly verdicts: readonly Verdict[] }) {
  const counts = new Map<string, { readonly one: Verdict; count: number }>();
  for (const one of verdicts) {
    const key = `${one.who} ${one.said}`;
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { one, count: 1 });
    else known.count++;
  }
  return (
    <ul className="tally" aria-label="In short">
      {[...counts].map(([key, { one, count }]) => (
        <li key={key}>
          {one.who}{' '}
          <span className="chip" data-tone={one.tone}>
            {one.said} {count}
          </span>
        </li>
      ))}
    </ul>
  );
}
