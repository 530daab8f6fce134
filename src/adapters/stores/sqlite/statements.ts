import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SQL } from './sql.ts';

/** The statements of a connection by name, each prepared once, when it is first wanted. */
export type Statements = (name: keyof typeof SQL) => StatementSync;

export function createStatements(connection: DatabaseSync): Statements {
  const prepared = new Map<keyof typeof SQL, StatementSync>();
  return (name) => {
    let statement = prepared.get(name);
    if (statement === undefined) prepared.set(name, (statement = connection.prepare(SQL[name])));
    return statement;
  };
}
