import { GitFork, RotateCcw } from 'lucide-react';
import { memo, useMemo } from 'react';
import type { WireEntry } from '../api/types.ts';
import { duration } from '../clock.ts';
import { dataOf, type Turn } from '../state/entries.ts';
import { endingInWords, type Ended } from '../state/ending.ts';
import { numbersOf, sourcesOf } from '../state/sources.ts';
import type { Versions } from '../state/versions.ts';
import type { Draft } from '../state/live-run.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Markdown, SourceNumbers } from '../ui/markdown.tsx';
import { Said } from './said.tsx';
import { Sources } from './sources.tsx';
import { FoldedWork, Work } from './work.tsx';

export interface TurnActions {
  /** A new conversation that goes as far as this entry. */
  readonly onFork: (entry: string) => void;
  /** The same message again, as another version of it. */
  readonly onRetry: (entry: WireEntry) => void;
  readonly onEdit: (entry: WireEntry, text: string) => Promise<void>;
  readonly onResume: () => void;
}

export interface TurnViewProps extends TurnActions {
  readonly turn: Turn;
  readonly drafts: readonly Draft[];
  readonly progress: Readonly<Record<string, string>>;
  readonly isLast: boolean;
  /** By the place of the message that they are versions of. */
  readonly versions: ReadonlyMap<number, Versions>;
}

const NOTHING: readonly Draft[] = [];

/** One exchange. Finished ones are drawn once: they get the same props for ever. */
export const TurnView = memo(function TurnView({
  turn,
  drafts,
  progress,
  isLast,
  versions,
  ...actions
}: TurnViewProps) {
  const { said, work, answer, end } = turn;
  const text = drafts.find((one) => one.kind === 'text');
  const actionCount = work.filter((one) => one.role === 'action').length;
  const ended = end === undefined ? undefined : dataOf(end, 'end');
  const isOver = ended !== undefined;
  const sources = useMemo(() => (isOver ? sourcesOf({ answer, work }) : []), [isOver, answer, work]);
  const numbers = useMemo(() => numbersOf(sources), [sources]);
  // The answer takes the place of its draft where it stands, so that nothing of it is drawn anew.
  const shown = answer?.text ?? (isOver ? undefined : text?.text);
  const opening = turn.number === undefined ? undefined : said[0];
  return (
    <article className="turn" data-id={turn.id} aria-label={`Exchange ${turn.number ?? ''}`}>
      {said.map((entry) => (
        <Said
          key={entry.id}
          entry={entry}
          versions={versions.get(entry.position)}
          onEdit={entry === opening ? actions.onEdit : undefined}
        />
      ))}
      {ended === undefined ? (
        <Work entries={work} drafts={drafts} progress={progress} />
      ) : (
        stretchesOf(work).map((stretch) => (
          <Stretch key={stretch[0]?.id} entries={stretch} progress={progress} ms={ended.ms} />
        ))
      )}
      {shown === undefined ? null : (
        <div className="answer" aria-busy={answer === undefined}>
          <SourceNumbers value={numbers}>
            <Markdown text={shown} isStreaming={answer === undefined} />
          </SourceNumbers>
        </div>
      )}
      <Sources id={turn.id} sources={sources} />
      {ended === undefined || end === undefined ? null : (
        <footer className="turn-foot">
          {ended.status === 'completed' ? null : (
            <TurnTrouble
              end={ended}
              told={lastTold(work)}
              isLast={isLast}
              onResume={actions.onResume}
              onRetry={
                opening === undefined
                  ? undefined
                  : () => {
                      actions.onRetry(opening);
                    }
              }
            />
          )}
          <div className="turn-tools">
            {answer === undefined ? null : <CopyButton text={answer.text} label="Copy the answer" />}
            {opening === undefined ? null : (
              <IconButton
                label="Ask again, as another version"
                onClick={() => {
                  actions.onRetry(opening);
                }}
              >
                <RotateCcw size={15} />
              </IconButton>
            )}
            <IconButton label="Go on from here in a new conversation" onClick={() => actions.onFork(end.id)}>
              <GitFork size={15} />
            </IconButton>
            <span className="turn-figures">
              {[
                `${ended.iterations} model ${ended.iterations === 1 ? 'call' : 'calls'}`,
                ...(actionCount === 0 ? [] : [`${actionCount} ${actionCount === 1 ? 'action' : 'actions'}`]),
                duration(ended.ms),
              ].join(' · ')}
            </span>
          </div>
        </footer>
      )}
    </article>
  );
});

/** What a person said meanwhile stands in the open; the work before and after it is folded each by itself. */
function stretchesOf(work: readonly WireEntry[]): readonly (readonly WireEntry[])[] {
  const stretches: WireEntry[][] = [];
  for (const entry of work) {
    const last = stretches.at(-1);
    if (last !== undefined && (last[0]?.role === 'user') === (entry.role === 'user')) last.push(entry);
    else stretches.push([entry]);
  }
  return stretches;
}

function Stretch({
  entries,
  progress,
  ms,
}: {
  readonly entries: readonly WireEntry[];
  readonly progress: Readonly<Record<string, string>>;
  readonly ms: number;
}) {
  if (entries[0]?.role !== 'user') return <FoldedWork entries={entries} drafts={NOTHING} progress={progress} ms={ms} />;
  return entries.map((entry) => (
    <div key={entry.id} className="said">
      <p dir="auto">{entry.text}</p>
    </div>
  ));
}

/** Why there is no answer, and what to do now. */
function TurnTrouble({
  end,
  told,
  isLast,
  onResume,
  onRetry,
}: {
  readonly end: Ended;
  readonly told: string | undefined;
  readonly isLast: boolean;
  readonly onResume: () => void;
  readonly onRetry: (() => void) | undefined;
}) {
  const { words, detail, goesOn, repeats } = endingInWords(end, told);
  return (
    <div className="turn-trouble" data-tone={end.status === 'stopped' ? 'calm' : 'bad'}>
      <p>
        {words} {detail}
      </p>
      {goesOn && isLast ? (
        <Button
          onClick={() => {
            onResume();
          }}
        >
          Go on
        </Button>
      ) : null}
      {repeats && isLast && onRetry !== undefined ? (
        <Button
          onClick={() => {
            onRetry();
          }}
        >
          Try again
        </Button>
      ) : null}
    </div>
  );
}

/** What the agent was told of the last action that did not come about. */
function lastTold(work: readonly WireEntry[]): string | undefined {
  return work.flatMap((one) => dataOf(one, 'action')?.observation?.error?.message ?? []).at(-1);
}
