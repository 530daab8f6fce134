import { useState } from 'react';
import type { OpenRequest, RunAnswer } from '../api/types.ts';
import { useMayApprove } from '../state/queries.ts';
import { Button } from '../ui/button.tsx';
import { ApprovalCard } from './approval-card.tsx';
import { ConsentCard } from './consent-card.tsx';
import { QuestionCard } from './question-card.tsx';

export interface OpenRequestsProps {
  readonly requests: readonly OpenRequest[];
  /** Rejects when the answers were not taken. */
  readonly onAnswer: (answers: readonly RunAnswer[]) => Promise<void>;
}

/** Everything that a run asks a person, in the order in which it was asked. */
export function OpenRequests({ requests, onAnswer }: OpenRequestsProps) {
  const actions = requests.filter((one) => one.kind === 'action');
  const one = (answer: RunAnswer): Promise<void> => onAnswer([answer]);
  return (
    <>
      {actions.length > 1 ? <AllAtOnce requests={actions} onAnswer={onAnswer} /> : null}
      {requests.map((request) => {
        const key = `${request.run} ${request.id}`;
        if (request.consent !== undefined) return <ConsentCard key={key} request={request} onAnswer={one} />;
        return request.kind === 'input' ? (
          <QuestionCard key={key} request={request} onAnswer={one} />
        ) : (
          <ApprovalCard key={key} request={request} onAnswer={one} />
        );
      })}
    </>
  );
}

/** One word on all that stands below, for who has read it. */
function AllAtOnce({ requests, onAnswer }: OpenRequestsProps) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const mayApprove = useMayApprove();
  const decide = (decision: 'allow' | 'reject'): void => {
    setBusy(true);
    setProblem(undefined);
    onAnswer(requests.map(({ id, digest, run }) => ({ request: id, digest, run, decision })))
      .catch((error: unknown) => {
        setProblem(error instanceof Error ? error.message : 'The answers were not taken.');
      })
      .finally(() => {
        setBusy(false);
      });
  };
  return (
    <div className="all-at-once" role="group" aria-label="All of them">
      <span>{requests.length} actions wait for your word</span>
      <Button
        look="quiet"
        disabled={isBusy || !mayApprove}
        onClick={() => {
          decide('allow');
        }}
      >
        Allow all once
      </Button>
      <Button
        look="quiet"
        disabled={isBusy}
        onClick={() => {
          decide('reject');
        }}
      >
        Refuse all
      </Button>
      {problem === undefined ? null : (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
