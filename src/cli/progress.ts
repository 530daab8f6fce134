import { systemClock } from '../base/clock.ts';
import type { Phase } from './turn-view.ts';
import { duration } from './text.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
const FRAME_MS = 100;

export interface Progress {
  /** What goes on now; undefined when nothing does. */
  phase(phase: Phase | undefined): void;
  stop(): void;
}

/** Draws a phase with its seconds, again and again while it lasts. `draw` gets undefined to take it away. */
export function createProgress(draw: (line: string | undefined) => void, hint = ''): Progress {
  let current: Phase | undefined;
  let frame = 0;
  let timer: NodeJS.Timeout | undefined;
  const show = (): void => {
    if (current === undefined) return;
    const seconds = duration(Math.max(0, systemClock.now() - current.since));
    draw(`  ${FRAMES[frame++ % FRAMES.length] ?? ''} ${current.text}  ${seconds}${hint}`);
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
    current = undefined;
    draw(undefined);
  };
  return {
    phase(phase) {
      if (phase === undefined) {
        stop();
        return;
      }
      current = phase;
      timer ??= setInterval(show, FRAME_MS);
      show();
    },
    stop,
  };
}
