/** The one place where the page reads the time. Milliseconds since 1970. */
export function now(): number {
  return Date.now();
}

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });

/** `now`, `5 min. ago`, `yesterday`. */
export function ago(at: string | number, from = now()): string {
  const seconds = Math.round((new Date(at).getTime() - from) / 1_000);
  const size = Math.abs(seconds);
  if (size < 45) return relative.format(0, 'second');
  if (size < 3_600) return relative.format(Math.round(seconds / 60), 'minute');
  if (size < 86_400) return relative.format(Math.round(seconds / 3_600), 'hour');
  return relative.format(Math.round(seconds / 86_400), 'day');
}

const date = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

/** `Dec 1, 09:05 AM`, as the reader's place writes it. */
export function dateInWords(at: string | number): string {
  return date.format(new Date(at));
}

/** Milliseconds in words: `340 ms`, `3.4 s`, `2 m 05 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} m ${String(Math.floor((ms % 60_000) / 1_000)).padStart(2, '0')} s`;
}
