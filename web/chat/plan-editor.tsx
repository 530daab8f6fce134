import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { Json } from '../api/types.ts';
import { useKept } from '../state/kept.ts';
import { Button, IconButton } from '../ui/button.tsx';
import type { PlanStep } from './plan-panel.tsx';
import '../styles/plan-editor.css';

export interface PlanEditorProps {
  /** Under which what was changed is kept. */
  readonly name: string;
  readonly steps: readonly PlanStep[];
  readonly isBusy: boolean;
  readonly onSubmit: (plan: Json) => void;
  readonly onCancel: () => void;
}

interface Row {
  readonly key: number;
  readonly title: string;
  readonly detail: string;
}

const MOST_STEPS = 50;

/** The steps of a plan as a person would have them: reworded, moved, dropped and added. */
export function PlanEditor({ name, steps, isBusy, onSubmit, onCancel }: PlanEditorProps) {
  const [initial] = useState(() => steps.map(({ title, detail = '' }, key): Row => ({ key, title, detail })));
  const [rows, setRows] = useKept<readonly Row[]>(`plan ${name}`, initial);
  const [isTried, setTried] = useState(false);
  const list = useRef<HTMLOListElement>(null);
  const wanted = useRef<number>(0);
  useEffect(() => {
    list.current?.querySelectorAll<HTMLElement>('.plan-title')[wanted.current]?.focus();
  }, [rows.length]);
  const change = (index: number, change: Partial<Row>): void => {
    setRows(rows.map((row, at) => (at === index ? { ...row, ...change } : row)));
  };
  const move = (from: number, to: number): void => {
    const row = rows[from];
    if (row !== undefined) setRows(rows.toSpliced(from, 1).toSpliced(to, 0, row));
  };
  const submit = (): void => {
    setTried(true);
    if (rows.some(({ title }) => title.trim() === '')) return;
    onSubmit({
      steps: rows.map(({ title, detail }) => ({
        title: title.trim(),
        ...(detail.trim() !== '' && { detail: detail.trim() }),
      })),
    });
  };
  return (
    <form
      className="plan-editor"
      aria-label="The steps of the plan"
      noValidate
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <ol ref={list}>
        {rows.map(({ key, title, detail }, index) => {
          const number = index + 1;
          const isEmpty = isTried && title.trim() === '';
          return (
            <li key={key}>
              <div className="plan-words">
                <input
                  className="field plan-title"
                  aria-label={`Step ${number}`}
                  aria-invalid={isEmpty}
                  maxLength={300}
                  value={title}
                  onChange={(event) => {
                    change(index, { title: event.target.value });
                  }}
                />
                <input
                  className="field plan-detail"
                  aria-label={`How step ${number} is done`}
                  placeholder="How, if it matters"
                  maxLength={1000}
                  value={detail}
                  onChange={(event) => {
                    change(index, { detail: event.target.value });
                  }}
                />
                {isEmpty ? (
                  <p className="field-problem" role="alert">
                    Say what this step is, or drop it.
                  </p>
                ) : null}
              </div>
              <div className="plan-moves">
                <IconButton
                  label={`Move step ${number} up`}
                  disabled={index === 0}
                  onClick={() => {
                    move(index, index - 1);
                  }}
                >
                  <ArrowUp size={16} aria-hidden />
                </IconButton>
                <IconButton
                  label={`Move step ${number} down`}
                  disabled={number === rows.length}
                  onClick={() => {
                    move(index, number);
                  }}
                >
                  <ArrowDown size={16} aria-hidden />
                </IconButton>
                <IconButton
                  label={`Drop step ${number}`}
                  disabled={rows.length === 1}
                  onClick={() => {
                    wanted.current = Math.max(0, index - 1);
                    setRows(rows.toSpliced(index, 1));
                  }}
                >
                  <X size={16} aria-hidden />
                </IconButton>
              </div>
            </li>
          );
        })}
      </ol>
      <div>
        <Button
          look="quiet"
          disabled={rows.length >= MOST_STEPS}
          onClick={() => {
            wanted.current = rows.length;
            const key = Math.max(...rows.map((row) => row.key)) + 1;
            setRows([...rows, { key, title: '', detail: '' }]);
          }}
        >
          <Plus size={16} aria-hidden /> Add a step
        </Button>
      </div>
      <div className="approval-buttons">
        <Button type="submit" look="solid" disabled={isBusy}>
          Go on with these steps
        </Button>
        <Button look="quiet" onClick={onCancel}>
          Back
        </Button>
      </div>
    </form>
  );
}
