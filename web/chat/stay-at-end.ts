import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';

/** Pixels from the end that still count as being there. */
const NEAR = 80;

export interface StayAtEnd {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly isAtEnd: boolean;
  readonly toEnd: () => void;
  readonly onScroll: () => void;
  /** A person has a hand on it. */
  readonly byHand: () => void;
  readonly onClickCapture: (event: { readonly target: EventTarget }) => void;
}

/**
 * Keeps a scrolled list at its end for as long as one reads there, and nowhere else.
 *
 * Whatever moves the list up means it: a wheel, a key, a search of the browser, a program that reads aloud. What grows
 * below is followed; what a person folds out stays where they folded it out, until something new comes.
 *
 * `news` changes with whatever comes from the run.
 */
export function useStayAtEnd(news: unknown): StayAtEnd {
  const scroller = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const stays = useRef(true);
  const isHeld = useRef(false);
  const isByHand = useRef(false);
  /** It was put to the end from here, and has not said so yet: the list may still have another mind about its place. */
  const isOwn = useRef(false);
  const seen = useRef({ top: 0, height: 0, distance: 0 });

  const look = useCallback((): void => {
    const element = scroller.current;
    if (element === null) return;
    const { scrollTop: top, scrollHeight: height, clientHeight } = element;
    seen.current = { top, height, distance: height - top - clientHeight };
    setAtEnd(stays.current || seen.current.distance < NEAR);
  }, []);
  const toEnd = useCallback((): void => {
    const element = scroller.current;
    if (element === null) return;
    stays.current = true;
    isHeld.current = false;
    const before = element.scrollTop;
    element.scrollTop = element.scrollHeight;
    if (element.scrollTop !== before) isOwn.current = true;
    look();
  }, [look]);
  const follow = useCallback((): void => {
    if (stays.current && !isHeld.current) toEnd();
    else look();
  }, [look, toEnd]);

  const onScroll = useCallback((): void => {
    const before = seen.current;
    look();
    const { top, height, distance } = seen.current;
    // What is measured anew above moves the list up by as much as it becomes shorter.
    const isMovedUp = before.top - top > Math.max(0, before.height - height) + 1;
    const isByThePage = isOwn.current;
    isOwn.current = false;
    if (distance < NEAR) {
      stays.current = true;
      isHeld.current = false;
      isByHand.current = false;
    } else if (isMovedUp && (isByHand.current || !isByThePage)) stays.current = false;
    else if (stays.current && !isHeld.current) toEnd();
    setAtEnd(stays.current || distance < NEAR);
  }, [look, toEnd]);
  const byHand = useCallback((): void => {
    isByHand.current = true;
  }, []);
  const onClickCapture = useCallback(({ target }: { readonly target: EventTarget }): void => {
    if (target instanceof Element && target.closest(FOLDS) !== null) isHeld.current = true;
  }, []);

  useLayoutEffect(() => {
    if (seen.current.distance < NEAR) isHeld.current = false;
    follow();
  }, [news, follow]);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const watch = new ResizeObserver(follow);
    watch.observe(element);
    for (const child of element.children) watch.observe(child);
    return () => {
      watch.disconnect();
    };
  }, [follow]);
  return { scroller, isAtEnd, toEnd, onScroll, byHand, onClickCapture };
}

const FOLDS = '[aria-expanded]:not([aria-haspopup]), summary';
