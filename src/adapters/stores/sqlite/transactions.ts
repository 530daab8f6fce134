import type { DatabaseSync } from 'node:sqlite';
import { TreadleError } from '../../../base/errors.ts';
import type { MaybePromise } from '../../../base/promise.ts';
import type { Synchronous } from './connection.ts';
import { SQL } from './sql.ts';

/**
 * How writes reach the disk. Work is synchronous, runs inside one transaction, and throws a `TreadleError` only before
 * it has written anything.
 */
export interface Transactions {
  /** Work whose outcome must survive what `synchronous` says. `committed` runs after the commit and before the answer. */
  write<T>(work: () => T, committed: (result: T) => void): MaybePromise<T>;
  /**
   * Work that a power cut may undo, such as a lease: done at once and never waited for. A later `write` makes it as safe as
   * itself, because the file keeps their order.
   */
  writeLightly<T>(work: () => T): T;
  /** Commits what is still waiting. */
  flush(): void;
}

/** The most waiting writes that share a commit: a bound on how long the event loop stands still. */
const SHARED_MAX = 512;

interface Waiting {
  run(): void;
  resolve(): void;
  reject(problem: unknown): void;
}

/**
 * With `normal` a commit costs microseconds and happens at once, without a promise. With `full` it costs a trip to the
 * disk, so writes of one tick wait for its end and share one commit, each with its own outcome.
 */
export function createTransactions(
  connection: DatabaseSync,
  synchronous: Synchronous,
  hooks: { readonly undone: () => void; readonly explain: (problem: unknown) => unknown },
): Transactions {
  const begin = connection.prepare(SQL.begin);
  const commit = connection.prepare(SQL.commit);
  let waiting: Waiting[] = [];

  function undo(): void {
    // On some errors, such as a full disk, SQLite has rolled back by itself.
    if (connection.isTransaction) connection.exec(SQL.rollback);
    hooks.undone();
  }

  function alone<T>(work: () => T): T {
    try {
      begin.run();
      const result = work();
      commit.run();
      return result;
    } catch (problem) {
      undo();
      throw hooks.explain(problem);
    }
  }

  /** Runs all in one transaction. One that fails is answered and left out, and the others run again without it. */
  function together(group: Waiting[]): void {
    let left = group;
    for (;;) {
      const done: Waiting[] = [];
      let current: Waiting | undefined;
      try {
        begin.run();
        for (current of left) if (isDone(current)) done.push(current);
        current = undefined;
        commit.run();
        for (const one of done) one.resolve();
        return;
      } catch (problem) {
        undo();
        const explained = hooks.explain(problem);
        if (current === undefined) {
          // The lock or the commit failed, which is nobody's in particular.
          for (const one of left) one.reject(explained);
          return;
        }
        current.reject(explained);
        left = [...done, ...left.slice(left.indexOf(current) + 1)];
      }
    }
  }

  /** False when the work was refused, which is an answer and undoes nothing. */
  function isDone(one: Waiting): boolean {
    try {
      one.run();
      return true;
    } catch (problem) {
      if (!TreadleError.is(problem)) throw problem;
      one.reject(problem);
      return false;
    }
  }

  function flush(): void {
    const group = waiting;
    waiting = [];
    for (let from = 0; from < group.length; from += SHARED_MAX) together(group.slice(from, from + SHARED_MAX));
  }

  function later<T>(work: () => T, committed: (result: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      let result: T;
      waiting.push({
        run: () => (result = work()),
        resolve: () => {
          committed(result);
          resolve(result);
        },
        reject,
      });
      if (waiting.length === 1) setImmediate(flush);
    });
  }

  return {
    write(work, committed) {
      if (synchronous === 'full') return later(work, committed);
      const result = alone(work);
      committed(result);
      return result;
    },
    writeLightly(work) {
      if (synchronous === 'normal') return alone(work);
      connection.exec('PRAGMA synchronous = normal');
      try {
        return alone(work);
      } finally {
        connection.exec('PRAGMA synchronous = full');
      }
    },
    flush,
  };
}
