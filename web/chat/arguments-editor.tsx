import { useEffect, useMemo, useRef, useState } from 'react';
import type { Json } from '../api/types.ts';
import { useKept } from '../state/kept.ts';
import { problemsOf } from '../state/schema.ts';
import { Button } from '../ui/button.tsx';
import { Field, FormContext, placeAfter, readOr, shown } from './arguments-form.tsx';
import '../styles/arguments.css';

export interface ArgumentsEditorProps {
  /** Under which what was changed is kept. */
  readonly name: string;
  readonly value: Json;
  /** JSON Schema that the tool declares. */
  readonly schema: Json;
  readonly isBusy: boolean;
  readonly onSubmit: (value: Json) => void;
  readonly onCancel: () => void;
}

type Halves = Readonly<Record<string, string>>;

const NO_HALVES: Halves = {};

/** The arguments, field by field as the tool's schema has them, or as JSON. What does not fit is said before it is sent. */
export function ArgumentsEditor({ name, value, schema, isBusy, onSubmit, onCancel }: ArgumentsEditorProps) {
  const [edited, setEdited] = useKept<Json>(`arguments ${name}`, value);
  const [text, setText] = useKept<string | undefined>(`arguments as JSON ${name}`, undefined);
  const [halves, setHalves] = useKept<Halves>(`half written ${name}`, NO_HALVES);
  const isBroken = text === undefined ? Object.keys(halves).length > 0 : readOr(text) === undefined;
  const [isTried, setTried] = useState(false);
  const problems = useMemo(
    () => (isTried ? problemsOf(schema, edited) : new Map<string, string>()),
    [isTried, schema, edited],
  );
  const context = useMemo(
    () => ({
      root: schema,
      problems,
      halves,
      onHalf: (place: string, half: string | undefined) => {
        if (halves[place] === half) return;
        const { [place]: _, ...others } = halves;
        setHalves(half === undefined ? others : { ...others, [place]: half });
      },
      onGone: (place: string, row?: number) => {
        const left = Object.entries(halves).flatMap(([one, half]) => {
          const moved = placeAfter(one, place, row);
          return moved === undefined ? [] : [[moved, half] as const];
        });
        setHalves(Object.fromEntries(left));
      },
    }),
    [schema, problems, halves, setHalves],
  );
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('input, textarea, select')?.focus();
  }, []);
  const isText = text !== undefined;
  const submit = (): void => {
    setTried(true);
    if (!isBroken && problemsOf(schema, edited).size === 0) onSubmit(edited);
  };
  return (
    <form
      className="arguments-editor"
      noValidate
      ref={form}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <FormContext value={context}>
        {isText ? (
          <JsonText
            text={text}
            onText={(next, read) => {
              setText(next);
              if (read !== undefined) setEdited(read.value);
            }}
            problem={isBroken ? 'This is not JSON.' : [...problems.values()][0]}
          />
        ) : (
          <Field
            place=""
            name="Arguments"
            schema={schema}
            value={edited}
            before={value}
            isNeeded
            onChange={setEdited}
          />
        )}
      </FormContext>
      <div className="approval-buttons">
        <Button type="submit" look="solid" disabled={isBusy || isBroken}>
          Allow with these
        </Button>
        <Button look="quiet" onClick={onCancel}>
          Back
        </Button>
        <Button
          look="quiet"
          className="as-json"
          disabled={isBroken}
          onClick={() => {
            setText(isText ? undefined : shown(edited));
          }}
        >
          {isText ? 'As a form' : 'As JSON'}
        </Button>
      </div>
    </form>
  );
}

function JsonText({
  text,
  problem,
  onText,
}: {
  readonly text: string;
  readonly problem: string | undefined;
  readonly onText: (text: string, read: { readonly value: Json } | undefined) => void;
}) {
  return (
    <label className="form-field">
      <span className="form-label">Arguments</span>
      <textarea
        className="field"
        rows={Math.min(16, text.split('\n').length + 1)}
        value={text}
        onChange={(event) => {
          onText(event.target.value, readOr(event.target.value));
        }}
      />
      {problem === undefined ? null : <small className="field-problem">{problem}</small>}
    </label>
  );
}
