import { useEffect, useState } from 'react';
import { now } from '../clock.ts';

const TICK_MS = 1_000;

/** The time, anew every second while something goes on. */
export function useTick(isMoving: boolean): number {
  const [at, setAt] = useState(now);
  useEffect(() => {
    if (!isMoving) return;
    const timer = setInterval(() => {
      setAt(now());
    }, TICK_MS);
    return () => {
      clearInterval(timer);
    };
  }, [isMoving]);
  return at;
}
