import type { Logger } from '../../../kernel/logger.ts';

/** What DBOS asks of a logger. */
export interface DbosLogger {
  info(entry: unknown): void;
  debug(entry: unknown): void;
  warn(entry: unknown): void;
  error(entry: unknown): void;
}

/** It says the same with each look while a database is away. */
const SAME_AGAIN_MS = 30_000;
const KINDS_MAX = 100;

/** Lines of DBOS, each kind of them now and then: a look each 100 ms that fails is one trouble, and no ten a second. */
export function dbosLogger(logger: Logger, now: () => number = () => performance.now()): DbosLogger {
  const last = new Map<string, number>();

  function tell(level: 'warn' | 'error', entry: unknown): void {
    const text = entry instanceof Error ? entry.message : String(entry);
    const kind = text.replace(/\d+/g, '#').slice(0, 80);
    const before = last.get(kind);
    if (before !== undefined && now() - before < SAME_AGAIN_MS) {
      logger.debug(`DBOS: ${text}`);
      return;
    }
    if (last.size >= KINDS_MAX) last.clear();
    last.set(kind, now());
    logger[level](`DBOS: ${text}`, entry instanceof Error ? { error: entry } : undefined);
  }

  return {
    debug: () => undefined,
    info: (entry) => logger.debug(`DBOS: ${String(entry)}`),
    warn: (entry) => tell('warn', entry),
    error: (entry) => tell('error', entry),
  };
}
