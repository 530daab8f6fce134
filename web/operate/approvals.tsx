import { useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../api/calls.ts';
import type { RunAnswer, Snapshot } from '../api/types.ts';
import { OpenRequests } from '../chat/open-requests.tsx';
import { ago } from '../clock.ts';
import { KeptOf } from '../state/kept.ts';
import { queries, runsChanged } from '../state/queries.ts';
import { Choice } from '../ui/choice.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Segments } from '../ui/segments.tsx';
import { OperatePage } from './operate-page.tsx';

const WAITING = 'pending_action_approval,pending_plan_approval,awaiting_user_input,waiting_for_subagents';
const REFRESH_MS = 3_000;

const KINDS = [
  { value: 'all', label: 'Everything' },
  { value: 'action', label: 'Actions' },
  { value: 'plan', label: 'Plans' },
  { value: 'input', label: 'Questions' },
] as const;
type Kind = (typeof KINDS)[number]['value'];

/** Everything that waits for a person, whichever conversation it is in. */
export function Approvals() {
  const waiting = useQuery({
    queryKey: ['runs', 'waiting'],
    queryFn: () => api.runs({ status: WAITING, limit: 50 }),
    refetchInterval: REFRESH_MS,
  });
  const runs = useQueries({
    queries: (waiting.data?.runs ?? []).map(({ id, updatedAt }) => ({
      queryKey: ['run', id, updatedAt],
      queryFn: () => api.run(id),
    })),
  });
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
  const about = count === 0 ? 'What agents ask people before they go on.' : `${count} waiting for you.`;
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
      {isKnown && count === 0 ? (
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
          <p>Other things wait for you: show everything.</p>
        </Notice>
      ) : null}
      {shown.map(({ run, requests }) => (
        <Asking key={run.id} run={run} requests={requests} />
      ))}
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
