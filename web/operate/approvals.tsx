import { useQueries } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { Link } from 'wouter';
import { api } from '../api/calls.ts';
import type { RunAnswer, Snapshot } from '../api/types.ts';
import { OpenRequests } from '../chat/open-requests.tsx';
import { ago } from '../clock.ts';
import { KeptOf } from '../state/kept.ts';
import { queries, runsChanged, useWaiting } from '../state/queries.ts';
import { Button } from '../ui/button.tsx';
import { Choice } from '../ui/choice.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Segments } from '../ui/segments.tsx';
import { OperatePage } from './operate-page.tsx';

const KINDS = [
  { value: 'all', label: 'Everything' },
  { value: 'action', label: 'Actions' },
  { value: 'plan', label: 'Plans' },
  { value: 'input', label: 'Questions' },
] as const;
type Kind = (typeof KINDS)[number]['value'];

/** Everything that waits for a person, whichever conversation it is in. */
export function Approvals() {
  const waiting = useWaiting();
  const listed = useMemo(() => (waiting.data?.pages ?? []).flatMap((page) => page.runs), [waiting.data]);
  const runs = useQueries({ queries: listed.map(({ id }) => ({ queryKey: ['run', id], queryFn: () => api.run(id) })) });
  // What has moved is looked at anew, in its place: nobody loses the field that they write in.
  useEffect(() => {
    for (const { id, updatedAt } of listed) {
      const known = queries.getQueryData<Snapshot>(['run', id]);
      if (known !== undefined && known.updatedAt !== updatedAt)
        void queries.invalidateQueries({ queryKey: ['run', id], exact: true });
    }
  }, [listed]);
  const [kind, setKind] = useState<Kind>('all');
  const [agent, setAgent] = useState('');
  // What a run below asks stands with the run that a person knows.
  const asking = runs.flatMap(({ data }) =>
    data === undefined || data.parent !== undefined || data.requests.length === 0 ? [] : [data],
  );
  const agents = [...new Set(asking.map((one) => one.agent))].sort();
  const shown = asking.flatMap((run) => {
    const requests = run.requests.filter((one) => kind === 'all' || one.kind === kind);
    return requests.length === 0 || (agent !== '' && run.agent !== agent) ? [] : [{ run, requests }];
  });
  const count = asking.reduce((sum, one) => sum + one.requests.length, 0);
  const isKnown = waiting.isSuccess && runs.every((one) => !one.isPending);
  const about =
    count === 0
      ? 'What agents ask people before they go on.'
      : `${count}${waiting.hasNextPage ? ' and more' : ''} waiting for you.`;
  return (
    <OperatePage title="Approvals" about={about}>
      {waiting.isError ? (
        <Failure
          error={waiting.error}
          onRetry={() => {
            void waiting.refetch();
          }}
        />
      ) : null}
      {waiting.isPending ? <Skeleton kind="cards" count={3} /> : null}
      {isKnown && count === 0 && !waiting.hasNextPage ? (
        <Notice title="Nothing waits for you">
          <p>When an agent needs a yes, it stands here and in its conversation.</p>
        </Notice>
      ) : null}
      {count === 0 ? null : (
        <div className="toolbar filters" role="group" aria-label="What is shown">
          <Segments label="What is asked" value={kind} options={KINDS} onChange={setKind} />
          {agents.length < 2 ? null : (
            <Choice
              label="Only one agent"
              value={agent}
              options={[{ value: '', label: 'every agent' }, ...agents.map((name) => ({ value: name, label: name }))]}
              onChange={setAgent}
            />
          )}
        </div>
      )}
      {isKnown && count > 0 && shown.length === 0 ? (
        <Notice title="None of these">
          <p>Other things wait for you: show everything{waiting.hasNextPage ? ', or look further' : ''}.</p>
        </Notice>
      ) : null}
      {shown.map(({ run, requests }) => (
        <Asking key={run.id} run={run} requests={requests} />
      ))}
      {waiting.hasNextPage ? (
        <Button
          className="further"
          disabled={waiting.isFetchingNextPage}
          onClick={() => {
            void waiting.fetchNextPage();
          }}
        >
          {waiting.isFetchingNextPage ? 'Loading…' : 'Show more that wait'}
        </Button>
      ) : null}
    </OperatePage>
  );
}

function Asking({ run, requests }: { readonly run: Snapshot; readonly requests: Snapshot['requests'] }) {
  const answer = async (given: readonly RunAnswer[]): Promise<void> => {
    await api.answer(run.id, given);
    runsChanged();
    await queries.invalidateQueries({ queryKey: ['runs', 'waiting'] });
  };
  return (
    <section className="asking">
      <h2>
        <Link href={`/r/${run.id}`}>{run.title === '' ? 'Untitled' : run.title}</Link>
        <small>
          {run.agent}, {ago(requests[0]?.askedAt ?? run.updatedAt)}
        </small>
      </h2>
      <KeptOf value={run.id}>
        <OpenRequests requests={requests} onAnswer={answer} />
      </KeptOf>
    </section>
  );
}
