import { useEffect, useMemo, useRef, useState } from 'react';
import type { Json } from '../api/types.ts';
import { useKept } from '../state/kept.ts';
import { problemsOf } from '../state/schema.ts';
import { Button } from '../ui/button.tsx';
import { Field, FormContext, readOr, shown } from './arguments-form.tsx';
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

/** The arguments, field by field as the tool's schema has them, or as JSON. What does not fit is said before it is sent. */
export function ArgumentsEditor({ name, value, schema, isBusy, onSubmit, onCancel }: ArgumentsEditorProps) {
  const [edited, setEdited] = useKept<Json>(`arguments ${name}`, value);
  const [text, setText] = useKept<string | undefined>(`arguments as JSON ${name}`, undefined);
  const [broken, setBroken] = useState<ReadonlySet<string>>(
    () => new Set(text !== undefined && readOr(text) === undefined ? [''] : []),
  );
  const [isTried, setTried] = useState(false);
  const problems = useMemo(
    () => (isTried ? problemsOf(schema, edited) : new Map<string, string>()),
    [isTried, schema, edited],
  );
  const context = useMemo(
    () => ({
      root: schema,
      problems,
      onBroken: (place: string, isBroken: boolean) => {
        setBroken((known) => {
          if (known.has(place) === isBroken) return known;
          const next = new Set(known);
          if (isBroken) next.add(place);
          else next.delete(place);
          return next;
        });
      },
    }),
    [schema, problems],
  );
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('input, textarea, select')?.focus();
  }, []);
  const isText = text !== undefined;
  const submit = (): void => {
    setTried(true);
    if (broken.size === 0 && problemsOf(schema, edited).size === 0) onSubmit(edited);
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
              context.onBroken('', read === undefined);
              if (read !== undefined) setEdited(read.value);
            }}
            problem={broken.has('') ? 'This is not JSON.' : [...problems.values()][0]}
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
        <Button type="submit" look="solid" disabled={isBusy || broken.size > 0}>
          Allow with these
        </Button>
        <Button look="quiet" onClick={onCancel}>
          Back
        </Button>
        <Button
          look="quiet"
          className="as-json"
          disabled={broken.size > 0}
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
