import { ChevronLeft, ChevronRight, Pencil } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { WireEntry } from '../api/types.ts';
import type { Versions } from '../state/versions.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';

export interface SaidProps {
  readonly entry: WireEntry;
  readonly versions: Versions | undefined;
  /** Says something else in its place, in a new conversation. Absent: it cannot be. */
  readonly onEdit: ((entry: WireEntry, text: string) => void) | undefined;
}

/** What a person said. It can be said otherwise: that begins another version from here, and this one is kept. */
export function Said({ entry, versions, onEdit }: SaidProps) {
  const [isEditing, setEditing] = useState(false);
  if (isEditing && onEdit !== undefined)
    return (
      <EditSaid
        text={entry.text}
        onCancel={() => {
          setEditing(false);
        }}
        onSend={(text) => {
          setEditing(false);
          onEdit(entry, text);
        }}
      />
    );
  return (
    <div className="said">
      <p>{entry.text}</p>
      <div className="said-tools">
        {versions === undefined ? null : <VersionSteps versions={versions} />}
        <CopyButton text={entry.text} label="Copy the message" />
        {onEdit === undefined ? null : (
          <IconButton
            label="Edit the message"
            onClick={() => {
              setEditing(true);
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
  text: before,
  onSend,
  onCancel,
}: {
  readonly text: string;
  readonly onSend: (text: string) => void;
  readonly onCancel: () => void;
}) {
  const [text, setText] = useState(before);
  const isSendable = text.trim() !== '' && text !== before;
  return (
    <form
      className="said-edit"
      onSubmit={(event) => {
        event.preventDefault();
        if (isSendable) onSend(text);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
        if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
        if (!(event.target instanceof HTMLTextAreaElement)) return;
        event.preventDefault();
        if (isSendable) onSend(text);
      }}
    >
      <textarea
        aria-label="The message in other words"
        autoFocus
        value={text}
        onFocus={(event) => {
          event.target.setSelectionRange(before.length, before.length);
        }}
        onChange={(event) => {
          setText(event.target.value);
        }}
      />
      <div className="said-edit-foot">
        <small>Begins another version from here. This one is kept.</small>
        <Button look="quiet" onClick={onCancel}>
          Cancel
        </Button>
        <Button look="solid" type="submit" disabled={!isSendable}>
          Send
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
