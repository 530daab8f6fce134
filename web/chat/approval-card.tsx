import { ShieldQuestion } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { Json, OpenRequest, RunAnswer } from '../api/types.ts';
import { ApiError } from '../api/http.ts';
import { ago } from '../clock.ts';
import { wordsOf } from '../state/asked-words.ts';
import { useForget, useKept } from '../state/kept.ts';
import { planChange } from '../state/plan-change.ts';
import { useMayApprove } from '../state/queries.ts';
import { Button } from '../ui/button.tsx';
import { AllowButton } from './allow-button.tsx';
import { PlanEditor } from './plan-editor.tsx';
import { PlanPanel } from './plan-panel.tsx';
import { RefusalForm } from './refusal-form.tsx';
import { WhatRuns } from './what-runs.tsx';

const ArgumentsEditor = lazy(async () => ({ default: (await import('./arguments-editor.tsx')).ArgumentsEditor }));

export interface ApprovalCardProps {
  readonly request: OpenRequest;
  /** Rejects when the answer was not taken. */
  readonly onAnswer: (answer: RunAnswer) => Promise<void>;
}

/** Exactly what will happen, and the person's word on it. Nothing is preselected: no answer is never consent. */
export function ApprovalCard({ request, onAnswer }: ApprovalCardProps) {
  const {
    id,
    digest,
    run,
    kind,
    name,
    question,
    arguments: given,
    inputSchema,
    preview,
    plan,
    planBefore,
    summary = '',
    decisions,
  } = request;
  // Asked about something else, it is another card.
  const asked = `${run} ${id} ${digest}`;
  const forget = useForget();
  const words = wordsOf(question, name);
  const [mode, setMode] = useKept<'look' | 'reject' | 'edit'>(`ask ${asked}`, 'look');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const mayApprove = useMayApprove();
  const answer = (rest: Pick<RunAnswer, 'decision'> & Partial<RunAnswer>): void => {
    setBusy(true);
    setProblem(undefined);
    onAnswer({ request: id, digest, run, ...rest })
      .then(
        () => {
          forget(asked);
        },
        (error: unknown) => {
          setProblem(problemInWords(error));
        },
      )
      .finally(() => {
        setBusy(false);
      });
  };
  const back = (): void => {
    setMode(undefined);
  };
  return (
    <section className="approval" aria-labelledby={`ask-${id}`}>
      <header>
        <ShieldQuestion size={18} aria-hidden />
        <h3 id={`ask-${id}`}>
          {kind === 'plan' ? (
            'May it follow this plan?'
          ) : planBefore !== undefined ? (
            'May it change the plan?'
          ) : (
            <>
              May <code>{name ?? 'this'}</code> run?
            </>
          )}
        </h3>
        <AskedBy request={request} />
      </header>
      {words === '' || plan !== undefined ? null : <p className="approval-question">{words}</p>}
      {plan === undefined || mode === 'edit' ? null : (
        <PlanPanel title={summary} steps={planBefore === undefined ? plan : planChange(planBefore, plan)} source="" />
      )}
      {given === undefined || plan !== undefined || mode === 'edit' ? null : (
        <WhatRuns given={given} preview={preview} />
      )}
      {mode === 'edit' && kind === 'plan' && plan !== undefined ? (
        <PlanEditor
          name={asked}
          steps={plan}
          isBusy={isBusy}
          onCancel={back}
          onSubmit={(changed: Json) => {
            answer({ decision: 'edit', arguments: changed });
          }}
        />
      ) : mode === 'edit' ? (
        <Suspense fallback={<p className="remark">Loading the form…</p>}>
          <ArgumentsEditor
            name={asked}
            value={given ?? {}}
            schema={inputSchema}
            isBusy={isBusy}
            onCancel={back}
            onSubmit={(changed: Json) => {
              answer({ decision: 'edit', arguments: changed });
            }}
          />
        </Suspense>
      ) : null}
      {mode === 'reject' ? (
        <RefusalForm
          id={id}
          name={asked}
          isBusy={isBusy}
          onCancel={back}
          onSubmit={(note) => {
            answer({ decision: 'reject', ...(note === '' ? {} : { note }) });
          }}
        />
      ) : null}
      {problem === undefined ? null : (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
      {mode === 'look' ? (
        <div className="approval-buttons">
          {decisions.includes('allow') ? (
            <AllowButton
              once={
                kind === 'plan'
                  ? 'Go ahead with this plan'
                  : planBefore === undefined
                    ? 'Allow once'
                    : 'Change the plan'
              }
              allowance={request.allowance}
              disabled={isBusy || !mayApprove}
              describedBy={mayApprove ? undefined : `may-${id}`}
              onAllow={(reach) => {
                answer({ decision: 'allow', ...(reach === undefined ? {} : { allow: reach }) });
              }}
            />
          ) : null}
          {decisions.includes('edit') ? (
            <Button
              disabled={isBusy || !mayApprove}
              onClick={() => {
                setMode('edit');
              }}
            >
              Edit…
            </Button>
          ) : null}
          <Button
            disabled={isBusy}
            onClick={() => {
              setMode('reject');
            }}
          >
            Refuse…
          </Button>
        </div>
      ) : null}
      {mayApprove ? null : (
        <p id={`may-${id}`} className="approval-may">
          {ONLY_REFUSE}
        </p>
      )}
    </section>
  );
}

const ONLY_REFUSE = 'Your key may refuse and not allow. Somebody whose key has the scope “approve” can.';

/** Which agent asks, where it is not the one people talk to, and until when. The gate that held it is a detail. */
function AskedBy({ request: { agentPath, expiresAt, gate } }: { readonly request: OpenRequest }) {
  const words = [
    ...(agentPath.includes('/') ? [`asked by ${agentPath.split('/').at(-1) ?? agentPath}`] : []),
    ...(expiresAt === undefined ? [] : [`lapses ${ago(expiresAt)}`]),
  ];
  return words.length === 0 ? null : <small title={gate}>{words.join(' · ')}</small>;
}

function problemInWords(error: unknown): string {
  if (error instanceof ApiError && error.code === 'insufficient_scope') return ONLY_REFUSE;
  return error instanceof Error ? error.message : 'The answer was not taken.';
}
