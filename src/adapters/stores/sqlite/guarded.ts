import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { TreadleError } from '../../../base/errors.ts';
import { storeError } from './errors.ts';

/** A connection whose statements are prepared once, and whose troubles are told in our words. */
export interface Guarded<Name extends string> {
  readonly sql: (name: Name) => StatementSync;
  /** Throws `log_unavailable` once the file was closed, and what its own troubles are called. */
  readonly use: <T>(work: () => T) => T;
}

export function guarded<Name extends string>(
  connection: DatabaseSync,
  file: string,
  statements: Readonly<Record<Name, string>>,
): Guarded<Name> {
  const prepared = new Map<Name, StatementSync>();
  return {
    sql(name) {
      let statement = prepared.get(name);
      if (statement === undefined) prepared.set(name, (statement = connection.prepare(statements[name])));
      return statement;
    },
    use(work) {
      if (!connection.isOpen)
        throw new TreadleError('log_unavailable', {
          place: file,
          found: 'a file that was closed',
          wanted: 'an open one',
        });
      try {
        return work();
      } catch (problem) {
        throw storeError(problem, file);
      }
    },
  };
}
