import { ArrowUp, Paperclip, Square, X } from 'lucide-react';
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import type { Attachment } from '../api/calls.ts';
import { newKey } from '../ids.ts';
import { useAttachments, useDraft } from '../state/drafts.ts';
import { IconButton } from '../ui/button.tsx';
import { readAttachments } from './attachments.ts';

export interface ComposerProps {
  /** Whose draft it is. */
  readonly id: string;
  readonly isWorking: boolean;
  readonly placeholder: string;
  /** Rejects when it was not taken: the words are put back then. */
  readonly onSend: (
    message: { readonly text: string; readonly attachments?: readonly Attachment[]; readonly key: string },
    mode: 'followup' | 'steer',
  ) => Promise<void>;
  readonly onStop?: (() => void) | undefined;
  /** The `+` menu. */
  readonly menu?: ReactNode;
  readonly disabled?: boolean;
}

/** Enter sends, Shift+Enter breaks the line. While the agent works, Enter queues and Ctrl or ⌘ with Enter interrupts. */
export function Composer({ id, isWorking, placeholder, onSend, onStop, menu, disabled = false }: ComposerProps) {
  const [text, setText] = useDraft(id);
  const [attachments, setAttachments] = useAttachments(id);
  const [problem, setProblem] = useState<string>();
  const [isSending, setSending] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!disabled) field.current?.focus();
  }, [id, disabled]);
  const isEmpty = text.trim() === '' && attachments.length === 0;
  const send = (mode: 'followup' | 'steer'): void => {
    if (isEmpty || disabled) return;
    const message = { text, key: newKey(), ...(attachments.length === 0 ? {} : { attachments }) };
    setText('');
    setAttachments(() => []);
    setProblem(undefined);
    setSending(true);
    onSend(message, mode)
      .catch((error: unknown) => {
        setText(message.text);
        setAttachments((since) => [...(message.attachments ?? []), ...since]);
        setProblem(error instanceof Error ? error.message : 'This was not sent.');
      })
      .finally(() => {
        setSending(false);
      });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send(isWorking && (event.ctrlKey || event.metaKey) ? 'steer' : 'followup');
  };
  const add = (files: FileList | null): void => {
    if (files === null || files.length === 0) return;
    readAttachments([...files]).then(
      (read) => {
        setAttachments((all) => [...all, ...read]);
      },
      (error: unknown) => {
        setProblem(error instanceof Error ? error.message : 'The file cannot be read.');
      },
    );
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send('followup');
      }}
      onDragOver={(event) => {
        event.preventDefault();
      }}
      onDrop={(event) => {
        event.preventDefault();
        add(event.dataTransfer.files);
      }}
    >
      {problem === undefined ? null : (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
      {attachments.length === 0 ? null : (
        <ul className="attachments">
          {attachments.map((one, index) => (
            <li key={index}>
              {one.name}
              <IconButton
                label={`Take ${one.name} off`}
                onClick={() => {
                  setAttachments((all) => all.filter((other) => other !== one));
                }}
              >
                <X size={13} />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={field}
        className="composer-text"
        rows={1}
        dir="auto"
        aria-label="Message"
        placeholder={placeholder}
        value={text}
        disabled={disabled}
        onChange={(event) => {
          setText(event.target.value);
        }}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          if (event.clipboardData.files.length === 0) return;
          event.preventDefault();
          add(event.clipboardData.files);
        }}
      />
      <div className="composer-bar">
        {menu}
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            add(event.target.files);
            event.target.value = '';
          }}
        />
        <IconButton label="Attach files" onClick={() => picker.current?.click()}>
          <Paperclip size={17} />
        </IconButton>
        <span className="composer-hint" aria-live="polite">
          {isSending ? 'Sending…' : isWorking && !isEmpty ? 'Enter: read after this step · Ctrl+Enter: interrupt' : ''}
        </span>
        {isWorking && isEmpty && onStop !== undefined ? (
          <IconButton label="Stop" look="solid" className="send" onClick={onStop}>
            <Square size={13} fill="currentColor" />
          </IconButton>
        ) : (
          <IconButton label="Send" look="solid" className="send" type="submit" disabled={isEmpty || disabled}>
            <ArrowUp size={17} />
          </IconButton>
        )}
      </div>
    </form>
  );
}
