import { useId, useRef, useState } from 'react';
import { ApiError } from '../api/http.ts';
import { Button } from './button.tsx';
import { Failure } from './notice.tsx';

export interface BundleFormProps {
  readonly about: React.ReactNode;
  readonly placeholder: string;
  readonly rows: number;
  /** What the button says. The text comes without the space around it. */
  readonly submit: (text: string) => string;
  /** Why it cannot be sent yet. */
  readonly blocked: (text: string) => string | undefined;
  readonly isBusy: boolean;
  readonly onSubmit: (text: string) => void;
  /** What came of it. */
  readonly children: React.ReactNode;
}

/** The text of a bundle, typed, pasted or from a file, to do something with that saves nothing. */
export function BundleForm({ about, placeholder, rows, submit, blocked, isBusy, onSubmit, children }: BundleFormProps) {
  const [written, setText] = useState('');
  const file = useRef<HTMLInputElement>(null);
  const id = useId();
  const text = written.trim();
  const why = blocked(text);
  return (
    <form
      className="edit-panel"
      onSubmit={(event) => {
        event.preventDefault();
        if (why === undefined && !isBusy) onSubmit(text === '' ? '' : written);
      }}
    >
      <label htmlFor={id}>{about}</label>
      <textarea
        id={id}
        className="field code-field"
        rows={rows}
        spellCheck={false}
        placeholder={placeholder}
        value={written}
        onChange={(event) => {
          setText(event.target.value);
        }}
      />
      <div className="toolbar">
        <Button type="submit" look="solid" disabled={isBusy || why !== undefined} aria-describedby={`${id}-why`}>
          {submit(text)}
        </Button>
        <Button onClick={() => file.current?.click()}>Choose a file…</Button>
        <span id={`${id}-why`} className="toolbar-note">
          {why ?? ''}
        </span>
        <input
          ref={file}
          type="file"
          accept=".yaml,.yml"
          aria-label="A bundle file"
          hidden
          onChange={({ target }) => {
            void target.files?.[0]?.text().then(setText);
            target.value = '';
          }}
        />
      </div>
      {children}
    </form>
  );
}

/** What is wrong with a text that is to be a bundle, line by line. */
export function Mistakes({ error }: { readonly error: Error }) {
  const problems = error instanceof ApiError ? problemsOf(error) : [];
  if (problems.length === 0) return <Failure error={error} />;
  return (
    <div className="mistakes" role="alert">
      <h3>{problems.length === 1 ? 'One thing is wrong with it' : `${problems.length} things are wrong with it`}</h3>
      <ul>
        {problems.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </div>
  );
}

function problemsOf({ code, details }: ApiError): readonly string[] {
  const problems = code === 'bundle_invalid' ? details?.['problems'] : undefined;
  return Array.isArray(problems) ? problems.filter((one) => typeof one === 'string') : [];
}
