import type { Database, Patience, Value } from './database.ts';
import type { NewWork, Outbox } from './outbox.ts';
import type { Row } from './rows.ts';
import type { LogStatements } from './sql.ts';

/** The statements of the log by name, and what they find. */
export interface Statements {
  readonly run: <R extends Row>(
    name: keyof LogStatements,
    values: readonly Value[],
    patience: Patience,
  ) => Promise<R[]>;
  /** As `run`, and what gives work is told to the outbox before it counts. */
  readonly stating: <R extends Row>(
    name: keyof LogStatements,
    values: readonly Value[],
    patience: Patience,
    told: (row: R) => Omit<NewWork, 'conversationId'> | undefined,
    conversationId: string,
  ) => Promise<R[]>;
}

export function createStatements(database: Database, sql: LogStatements, outbox: Outbox | undefined): Statements {
  function run<R extends Row>(name: keyof LogStatements, values: readonly Value[], patience: Patience): Promise<R[]> {
    return database.run<R>(sql[name], values, patience);
  }

  function stating<R extends Row>(
    name: keyof LogStatements,
    values: readonly Value[],
    patience: Patience,
    told: (row: R) => Omit<NewWork, 'conversationId'> | undefined,
    conversationId: string,
  ): Promise<R[]> {
    if (outbox === undefined) return run<R>(name, values, patience);
    return database.together(async (transaction) => {
      const rows = await transaction.run<R>(sql[name].text, values);
      const work = rows[0] === undefined ? undefined : told(rows[0]);
      if (work !== undefined) await outbox(transaction, { conversationId, ...work });
      return rows;
    }, patience);
  }

  return { run, stating };
}
