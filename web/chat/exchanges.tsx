import { ArrowDown } from 'lucide-react';
import { useMemo, useState, type ReactNode, type Ref } from 'react';
import { Virtualizer, type CustomContainerComponentProps } from 'virtua';
import { turnsOf } from '../state/entries.ts';
import type { Draft, LiveRun } from '../state/live-run.ts';
import { IconButton } from '../ui/button.tsx';
import { useStayAtEnd } from './stay-at-end.ts';
import { TurnView, type TurnActions, type TurnViewProps } from './turn-view.tsx';

export interface ExchangesProps extends TurnActions {
  readonly run: LiveRun;
  readonly versions: TurnViewProps['versions'];
  /** After the last exchange: approvals, what goes on, what was just sent. */
  readonly children: ReactNode;
}

/** The list takes no pointer while it moves, and a click that began just before would be lost: here it counts. */
function Column({ ref, style, children }: CustomContainerComponentProps & { readonly ref?: Ref<HTMLDivElement> }) {
  return (
    <div ref={ref} style={{ ...style, pointerEvents: undefined }}>
      {children}
    </div>
  );
}

const NO_DRAFTS: readonly Draft[] = [];
const NO_PROGRESS: Readonly<Record<string, string>> = {};
/** The conversation. Only what is in sight is drawn; it stays at the end while one reads there, and nowhere else. */
export function Exchanges({ run, versions, children, onFork, onRetry, onEdit, onResume }: ExchangesProps) {
  const turns = useMemo(() => turnsOf(run.entries), [run.entries]);
  const { scroller, isAtEnd, toEnd, onScroll, byHand, onClickCapture } = useStayAtEnd(run);
  /** Where somebody writes: it stays on the page, also out of sight, so that the keys still go there. */
  const [focused, setFocused] = useState<readonly number[]>([]);
  return (
    <div className="thread-frame">
      <div
        ref={scroller}
        className="thread"
        tabIndex={0}
        role="log"
        aria-label="Conversation"
        aria-live="off"
        onScroll={onScroll}
        onWheel={byHand}
        onTouchMove={byHand}
        onPointerDown={byHand}
        onKeyDown={byHand}
        onClickCapture={onClickCapture}
      >
        <div
          className="thread-column"
          onFocus={({ target }) => {
            const turn = target.closest('.turn');
            const at = turns.findIndex((one) => one.id === turn?.getAttribute('data-id'));
            setFocused(at === -1 ? [] : [at]);
          }}
          onBlur={({ relatedTarget }) => {
            // It comes back to where it was, when the window does.
            if (relatedTarget === null && !document.hasFocus()) return;
            setFocused([]);
          }}
        >
          <Virtualizer as={Column} scrollRef={scroller} keepMounted={focused}>
            {turns.map((turn, index) => {
              const isLast = index === turns.length - 1;
              return (
                <TurnView
                  key={turn.id}
                  turn={turn}
                  isLast={isLast}
                  drafts={isLast ? run.drafts : NO_DRAFTS}
                  progress={isLast ? run.progress : NO_PROGRESS}
                  onFork={onFork}
                  versions={versions}
                  onRetry={onRetry}
                  onEdit={onEdit}
                  onResume={onResume}
                />
              );
            })}
          </Virtualizer>
          {children}
        </div>
      </div>
      {isAtEnd ? null : (
        <IconButton label="To the end" look="plain" className="to-end" onClick={toEnd}>
          <ArrowDown size={16} />
        </IconButton>
      )}
    </div>
  );
}
