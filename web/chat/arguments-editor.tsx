import { useState } from 'react';
import type { Json } from '../api/types.ts';
import { readJson } from '../json.ts';
import { Button } from '../ui/button.tsx';

export interface ArgumentsEditorProps {
  readonly value: Json;
  readonly isBusy: boolean;
  readonly onSubmit: (value: Json) => void;
  readonly onCancel: () => void;
}

/** The arguments as fields where they are flat, as JSON where they are not. The server checks them against the tool. */
export function ArgumentsEditor({ value, isBusy, onSubmit, onCancel }: ArgumentsEditorProps) {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const [fields, setFields] = useState<Readonly<Record<string, string>>>(() =>
    isObject ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shown(item as Json)])) : {},
  );
  const [problem, setProblem] = useState<string>();
  const submit = (): void => {
    try {
      if (!isObject) {
        onSubmit(readJson(text));
        return;
      }
      onSubmit(
        Object.fromEntries(
          Object.entries(fields).map(([name, given]) => [
            name,
            read(name, given, (value as Record<string, Json>)[name]),
          ]),
        ),
      );
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'This is not JSON.');
    }
  };
  return (
    <form
      className="arguments-editor"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {isObject ? (
        Object.entries(fields).map(([name, given], place) => (
          <label key={name}>
            <span>{name}</span>
            {given.includes('\n') || given.length > 60 ? (
              <textarea
                autoFocus={place === 0}
                rows={Math.min(12, given.split('\n').length + 1)}
                value={given}
                onChange={(event) => {
                  setFields({ ...fields, [name]: event.target.value });
                }}
              />
            ) : (
              <input
                autoFocus={place === 0}
                value={given}
                onChange={(event) => {
                  setFields({ ...fields, [name]: event.target.value });
                }}
              />
            )}
            {given === shown((value as Record<string, Json>)[name] ?? null) ? null : (
              <small className="edited-from">was {shown((value as Record<string, Json>)[name] ?? null)}</small>
            )}
          </label>
        ))
      ) : (
        <label>
          <span>Arguments</span>
          <textarea
            rows={8}
            value={text}
            onChange={(event) => {
              setText(event.target.value);
            }}
          />
        </label>
      )}
      {problem === undefined ? null : (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
      <div className="approval-buttons">
        <Button type="submit" look="solid" disabled={isBusy}>
          Allow with these
        </Button>
        <Button
          look="quiet"
          onClick={() => {
            onCancel();
          }}
        >
          Back
        </Button>
      </div>
    </form>
  );
}

function shown(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** What was text stays text; what was something else is read as JSON. */
function read(name: string, given: string, before: Json): Json {
  if (typeof before === 'string') return given;
  try {
    return readJson(given);
  } catch {
    throw new Error(`${name}: ${given} is not ${typeof before === 'number' ? 'a number' : 'JSON'}.`);
  }
}
