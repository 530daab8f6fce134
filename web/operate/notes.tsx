import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { operate } from '../api/operate.ts';
import type { Note, NoteList } from '../api/operate-types.ts';
import { ago } from '../clock.ts';
import { queries } from '../state/queries.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { download } from '../ui/download.ts';
import { Failure, Notice } from '../ui/notice.tsx';
import { OperatePage } from './operate-page.tsx';
import { ACCESS } from './sub-nav.tsx';

/** What agents remember of the person: found, put right, forgotten, and taken along. */
export function Notes() {
  const [words, setWords] = useState('');
  const q = useDeferredValue(words.trim());
  const [forgetting, setForgetting] = useState<Note>();
  const notes = useInfiniteQuery({
    queryKey: ['notes', q],
    queryFn: ({ pageParam: cursor, signal }): Promise<NoteList> => operate.notes(q === '' ? { cursor } : { q }, signal),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: (before) => before,
  });
  const keep = useMutation({
    mutationFn: async () => {
      const lines = (await operate.everyNote()).map((one) => `${JSON.stringify(one)}\n`);
      download('notes.jsonl', 'application/jsonl', lines.join(''));
    },
  });
  const all = notes.data?.pages.flatMap((page) => page.notes) ?? [];
  const total = notes.data?.pages[0]?.total ?? 0;
  return (
    <OperatePage
      title="Notes"
      about="What agents remember of you from one conversation to the next. You can put it right, and have it forgotten."
      pages={ACCESS}
    >
      {total === 0 ? null : (
        <div className="toolbar" role="group" aria-label="Find and keep">
          <input
            className="field"
            type="search"
            placeholder="Search"
            aria-label="Search notes"
            maxLength={200}
            value={words}
            onChange={({ target: { value } }) => {
              setWords(value);
            }}
          />
          <Button
            disabled={keep.isPending}
            onClick={() => {
              keep.mutate();
            }}
          >
            Save all as a file
          </Button>
        </div>
      )}
      {keep.isError ? (
        <p className="field-problem" role="alert">
          {keep.error.message}
        </p>
      ) : null}
      {notes.isError ? (
        <Failure
          error={notes.error}
          onRetry={() => {
            void notes.refetch();
          }}
        />
      ) : null}
      {notes.isPending ? <p className="loading">Loading…</p> : null}
      {notes.isSuccess && total === 0 ? (
        <Notice title="Nothing is remembered">
          <p>
            An agent with the tools of <code>builtin/notes</code> asks you before it keeps something. It stands here
            then.
          </p>
        </Notice>
      ) : null}
      {notes.isSuccess && total > 0 && all.length === 0 ? (
        <Notice title="Nothing found">
          <p>None of your notes has these words.</p>
        </Notice>
      ) : null}
      <ul className="account-list note-list" aria-label="Notes">
        {all.map((note) => (
          <NoteRow key={`${note.bundle} ${note.id}`} note={note} onForget={setForgetting} />
        ))}
      </ul>
      {notes.hasNextPage ? (
        <Button
          disabled={notes.isFetchingNextPage}
          onClick={() => {
            void notes.fetchNextPage();
          }}
        >
          Show more
        </Button>
      ) : null}
      <Confirm
        isOpen={forgetting !== undefined}
        title="Forget this note?"
        text="It cannot be brought back. What was said in conversations stays there."
        action="Forget it"
        onClose={() => {
          setForgetting(undefined);
        }}
        onConfirm={async () => {
          if (forgetting !== undefined) await operate.deleteNote(forgetting);
          await refresh();
        }}
      />
    </OperatePage>
  );
}

const MOST_CHARS = 2_000;

function NoteRow({ note, onForget }: { readonly note: Note; readonly onForget: (note: Note) => void }) {
  const [draft, setDraft] = useState<string>();
  const change = useMutation({
    mutationFn: (body: { readonly text?: string; readonly pinned?: boolean }) => operate.changeNote(note, body),
    onSuccess: () => {
      setDraft(undefined);
      return refresh();
    },
  });
  const { text, pinned, bundle, updatedAt } = note;
  return (
    <li>
      {draft === undefined ? (
        <p className="note-text">{text}</p>
      ) : (
        <form
          className="note-form"
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate({ text: draft.trim() });
          }}
        >
          <textarea
            className="field"
            aria-label="The note"
            rows={3}
            maxLength={MOST_CHARS}
            autoFocus
            value={draft}
            onChange={({ target: { value } }) => {
              setDraft(value);
            }}
            onKeyDown={({ key }) => {
              if (key === 'Escape') setDraft(undefined);
            }}
          />
          <Button type="submit" look="solid" disabled={draft.trim() === '' || change.isPending}>
            Save
          </Button>
          <Button
            look="quiet"
            onClick={() => {
              setDraft(undefined);
            }}
          >
            Cancel
          </Button>
        </form>
      )}
      {change.isError ? (
        <p className="field-problem" role="alert">
          {change.error.message}
        </p>
      ) : null}
      <footer>
        {pinned ? <span className="chip">told in every conversation</span> : null}
        <span>
          <code>{bundle}</code>, changed {ago(updatedAt)}
        </span>
        {draft === undefined ? (
          <Button
            look="quiet"
            aria-label={`Edit: ${text.slice(0, 60)}`}
            onClick={() => {
              setDraft(text);
            }}
          >
            Edit
          </Button>
        ) : null}
        <Button
          look="quiet"
          disabled={change.isPending}
          aria-pressed={pinned}
          onClick={() => {
            change.mutate({ pinned: !pinned });
          }}
        >
          {pinned ? 'Unpin' : 'Pin'}
        </Button>
        <Button
          look="danger"
          aria-label={`Forget: ${text.slice(0, 60)}`}
          onClick={() => {
            onForget(note);
          }}
        >
          Forget
        </Button>
      </footer>
    </li>
  );
}

async function refresh(): Promise<void> {
  await queries.invalidateQueries({ queryKey: ['notes'] });
}
