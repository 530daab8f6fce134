import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../api/calls.ts';
import type { RunAnswer } from '../api/types.ts';
import { OpenRequests } from '../chat/open-requests.tsx';
import { queries, runsChanged } from '../state/queries.ts';
import { Failure, Notice } from '../ui/notice.tsx';
import { OperatePage } from './operate-page.tsx';

const WAITING = 'pending_action_approval,pending_plan_approval,awaiting_user_input,waiting_for_subagents';

/** Everything that waits for a person, whichever conversation it is in. */
export function Approvals() {
  const waiting = useQuery({
    queryKey: ['runs', 'waiting'],
    queryFn: () => api.runs({ status: WAITING, limit: 50 }),
    refetchInterval: 3_000,
  });
  const runs = useQueries({
    queries: (waiting.data?.runs ?? []).map(({ id, updatedAt }) => ({
      queryKey: ['run', id, updatedAt],
      queryFn: () => api.run(id),
    })),
  });
  const asking = runs.flatMap(({ data }) => (data === undefined || data.parent !== undefined ? [] : [data]));
  const count = asking.reduce((sum, one) => sum + one.requests.length, 0);
  const answer = (id: string) => async (given: readonly RunAnswer[]) => {
    await api.answer(id, given);
    runsChanged();
    await queries.invalidateQueries({ queryKey: ['runs', 'waiting'] });
  };
  return (
    <OperatePage title="Approvals" about={count === 0 ? '' : `${count} waiting`}>
      {waiting.isError ? (
        <Failure
          error={waiting.error}
          onRetry={() => {
            void waiting.refetch();
          }}
        />
      ) : null}
      {waiting.isSuccess && runs.every((one) => !one.isPending) && count === 0 ? (
        <Notice title="Nothing waits for you">
          <p>When an agent needs a yes, it stands here and in its conversation.</p>
        </Notice>
      ) : null}
      {asking.map((run) =>
        run.requests.length === 0 ? null : (
          <section key={run.id} className="asking">
            <h2>
              <Link href={`/r/${run.id}`}>{run.title === '' ? 'Untitled' : run.title}</Link>
              <small>{run.agent}</small>
            </h2>
            <OpenRequests requests={run.requests} onAnswer={answer(run.id)} />
          </section>
        ),
      )}
    </OperatePage>
  );
}
