import { ShieldQuestion } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { Json, OpenRequest, RunAnswer } from '../api/types.ts';
import { ApiError } from '../api/http.ts';
import { ago } from '../clock.ts';
import { Button } from '../ui/button.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { PlanPanel } from './plan-panel.tsx';

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
    plan,
    decisions,
    gate,
    expiresAt,
    agentPath,
  } = request;
  const [mode, setMode] = useState<'look' | 'reject' | 'edit'>('look');
  const [note, setNote] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const answer = (rest: Pick<RunAnswer, 'decision'> & Partial<RunAnswer>): void => {
    setBusy(true);
    setProblem(undefined);
    onAnswer({ request: id, digest, run, ...rest })
      .catch((error: unknown) => {
        setProblem(problemInWords(error));
      })
      .finally(() => {
        setBusy(false);
      });
  };
  return (
    <section className="approval" aria-labelledby={`ask-${id}`}>
      <header>
        <ShieldQuestion size={18} aria-hidden />
        <h3 id={`ask-${id}`}>{kind === 'plan' ? 'May it follow this plan?' : `May ${name ?? 'this'} run?`}</h3>
        <small>
          {agentPath.includes('/') ? `${agentPath} · ` : ''}
          {expiresAt === undefined ? (gate ?? '') : `lapses ${ago(expiresAt)}`}
        </small>
      </header>
      {isOwnWords(question, name) ? <p className="approval-question">{question}</p> : null}
      {plan === undefined ? null : <PlanPanel title="" steps={plan} source="" />}
      {given === undefined || mode === 'edit' ? null : (
        <div className="approval-what">
          <JsonView value={given} />
        </div>
      )}
      {mode === 'edit' ? (
        <Suspense fallback={<p className="remark">Loading the form…</p>}>
          <ArgumentsEditor
            value={given ?? {}}
            isBusy={isBusy}
            onCancel={() => {
              setMode('look');
            }}
            onSubmit={(changed: Json) => {
              answer({ decision: 'edit', arguments: changed });
            }}
          />
        </Suspense>
      ) : null}
      {mode === 'reject' ? (
        <form
          className="approval-reject"
          onKeyDown={(event) => {
            if (event.key === 'Escape') setMode('look');
          }}
          onSubmit={(event) => {
            event.preventDefault();
            answer({ decision: 'reject', ...(note.trim() === '' ? {} : { note: note.trim() }) });
          }}
        >
          <label htmlFor={`why-${id}`}>Why not? The agent reads it. You may leave it empty.</label>
          <textarea
            id={`why-${id}`}
            rows={2}
            autoFocus
            value={note}
            onChange={(event) => {
              setNote(event.target.value);
            }}
          />
          <div className="approval-buttons">
            <Button type="submit" look="danger" disabled={isBusy}>
              Refuse
            </Button>
            <Button
              look="quiet"
              onClick={() => {
                setMode('look');
              }}
            >
              Back
            </Button>
          </div>
        </form>
      ) : null}
      {problem === undefined ? null : (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
      {mode === 'look' ? (
        <div className="approval-buttons">
          {decisions.includes('allow') ? (
            <Button
              look="solid"
              disabled={isBusy}
              onClick={() => {
                answer({ decision: 'allow' });
              }}
            >
              Allow once
            </Button>
          ) : null}
          {decisions.includes('edit') ? (
            <Button
              disabled={isBusy}
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
    </section>
  );
}

/** A gate that only asks whether the tool may run says nothing that the card does not. */
function isOwnWords(question: string, name: string | undefined): boolean {
  return name === undefined || !question.startsWith(`Allow ${name} `);
}

function problemInWords(error: unknown): string {
  if (error instanceof ApiError && error.code === 'insufficient_scope')
    return 'Your key may refuse and not allow. Somebody whose key has the scope “approve” can.';
  return error instanceof Error ? error.message : 'The answer was not taken.';
}
