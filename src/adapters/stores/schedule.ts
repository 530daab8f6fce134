/** Runs `callback` once after `ms` milliseconds; the returned function takes it back. */
export type Schedule = (ms: number, callback: () => void) => () => void;

/** A timer that does not keep the process alive. */
export const idleTimer: Schedule = (ms, callback) => {
  const timer = setTimeout(callback, ms).unref();
  return () => clearTimeout(timer);
};
