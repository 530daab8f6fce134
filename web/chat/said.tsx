import { ChevronLeft, ChevronRight, Pencil } from 'lucide-react';
import { useRef, useState } from 'react';
import { Link } from 'wouter';
import type { WireEntry } from '../api/types.ts';
import { useKept } from '../state/kept.ts';
import type { Versions } from '../state/versions.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';

export interface SaidProps {
  readonly entry: WireEntry;
  readonly versions: Versions | undefined;
  /** Says something else in its place, in a new conversation; rejects when that was not taken. Absent: it cannot be. */
  readonly onEdit: ((entry: WireEntry, text: string) => Promise<void>) | undefined;
}

/** What a person said. It can be said otherwise: that begins another version from here, and this one is kept. */
export function Said({ entry, versions, onEdit }: SaidProps) {
  const [text, setText] = useKept<string | undefined>(`edit ${entry.id}`, undefined);
  /** Just now, by hand: what is drawn again because it came into sight takes the focus from nobody. */
  const [isFresh, setFresh] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  if (text !== undefined && onEdit !== undefined)
    return (
      <EditSaid
        before={entry.text}
        text={text}
        isFresh={isFresh}
        onText={setText}
        onCancel={() => {
          setText(undefined);
          requestAnimationFrame(() => opener.current?.focus());
        }}
        onSend={async (words) => {
          await onEdit(entry, words);
          setText(undefined);
        }}
      />
    );
  return (
    <div className="said">
      <p dir="auto">{entry.text}</p>
      <div className="said-tools">
        {versions === undefined ? null : <VersionSteps versions={versions} />}
        <CopyButton text={entry.text} label="Copy the message" />
        {onEdit === undefined ? null : (
          <IconButton
            ref={opener}
            label="Edit the message"
            onClick={() => {
              setFresh(true);
              setText(entry.text);
            }}
          >
            <Pencil size={14} />
          </IconButton>
        )}
      </div>
    </div>
  );
}

function EditSaid({
  before,
  text,
  isFresh,
  onText,
  onSend,
  onCancel,
}: {
  readonly before: string;
  readonly text: string;
  readonly isFresh: boolean;
  readonly onText: (text: string) => void;
  readonly onSend: (text: string) => Promise<void>;
  readonly onCancel: () => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const isSendable = text.trim() !== '' && text !== before && !isBusy;
  const send = (): void => {
    if (!isSendable) return;
    setBusy(true);
    setProblem(undefined);
    onSend(text)
      .catch((error: unknown) => {
        setProblem(error instanceof Error ? error.message : 'This was not sent.');
      })
      .finally(() => {
        setBusy(false);
      });
  };
  return (
    <form
      className="said-edit"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
        if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
        if (!(event.target instanceof HTMLTextAreaElement)) return;
        event.preventDefault();
        send();
      }}
    >
      <textarea
        aria-label="The message in other words"
        dir="auto"
        autoFocus={isFresh}
        value={text}
        onFocus={(event) => {
          if (text === before) event.target.setSelectionRange(before.length, before.length);
        }}
        onChange={(event) => {
          onText(event.target.value);
        }}
      />
      {problem === undefined ? null : (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
      <div className="said-edit-foot">
        <small>Begins another version from here. This one is kept.</small>
        <Button look="quiet" onClick={onCancel}>
          Cancel
        </Button>
        <Button look="solid" type="submit" disabled={!isSendable}>
          {isBusy ? 'Sending…' : 'Send'}
        </Button>
      </div>
    </form>
  );
}

function VersionSteps({ versions: { runs, current } }: { readonly versions: Versions }) {
  const count = runs.length;
  return (
    <span className="versions" role="group" aria-label={`Version ${current + 1} of ${count}`}>
      <Step label="The version before" to={runs[current - 1]}>
        <ChevronLeft size={14} aria-hidden />
      </Step>
      <span aria-hidden>
        {current + 1}/{count}
      </span>
      <Step label="The version after" to={runs[current + 1]}>
        <ChevronRight size={14} aria-hidden />
      </Step>
    </span>
  );
}

function Step({
  label,
  to,
  children,
}: {
  readonly label: string;
  readonly to: string | undefined;
  readonly children: React.ReactNode;
}) {
  if (to === undefined)
    return (
      <span className="version-step" aria-hidden data-end>
        {children}
      </span>
    );
  return (
    <Link className="version-step" href={`/r/${to}`} aria-label={label}>
      {children}
    </Link>
  );
}
