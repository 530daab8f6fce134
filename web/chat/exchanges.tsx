import { ArrowDown } from 'lucide-react';
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { turnsOf } from '../state/entries.ts';
import type { Draft, LiveRun } from '../state/live-run.ts';
import { IconButton } from '../ui/button.tsx';
import { TurnView, type TurnActions, type TurnViewProps } from './turn-view.tsx';

export interface ExchangesProps extends TurnActions {
  readonly run: LiveRun;
  readonly versions: TurnViewProps['versions'];
  /** After the last exchange: approvals, what goes on, what was just sent. */
  readonly children: ReactNode;
}

const NO_DRAFTS: readonly Draft[] = [];
const NO_PROGRESS: Readonly<Record<string, string>> = {};
/** Pixels from the end that still count as being there. */
const NEAR = 80;

/** The conversation. Only what is in sight is drawn; it stays at the end while one reads there, and nowhere else. */
export function Exchanges({ run, versions, children, onFork, onRetry, onEdit, onResume }: ExchangesProps) {
  const turns = useMemo(() => turnsOf(run.entries), [run.entries]);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const atEnd = useRef(true);
  /** The person has moved the page since it was at its end: growth alone is no reason to stay behind. */
  const isByHand = useRef(false);
  const byHand = (): void => {
    isByHand.current = true;
  };
  const toEnd = (): void => {
    const element = scroller.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  };
  useLayoutEffect(() => {
    if (atEnd.current) toEnd();
  });
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => {
      if (atEnd.current) toEnd();
    });
    for (const child of element.children) watch.observe(child);
    return () => {
      watch.disconnect();
    };
  }, []);
  return (
    <div className="thread-frame">
      <div
        ref={scroller}
        className="thread"
        tabIndex={0}
        role="log"
        aria-label="Conversation"
        aria-live="off"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          const isNear = scrollHeight - scrollTop - clientHeight < NEAR;
          if (isNear) isByHand.current = false;
          atEnd.current = isNear || !isByHand.current;
          setAtEnd(atEnd.current);
        }}
        onWheel={byHand}
        onTouchMove={byHand}
        onPointerDown={byHand}
        onKeyDown={byHand}
      >
        <div className="thread-column">
          <Virtualizer ref={list} scrollRef={scroller}>
            {turns.map((turn, index) => {
              const isLast = index === turns.length - 1;
              return (
                <TurnView
                  key={turn.number ?? `new-${turn.said[0]?.id ?? ''}`}
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
