import { APPLICATION_ID, MIGRATIONS } from './sql.ts';

/** What tells one kind of our files from the others, and how it came to its present tables. */
export interface FileFormat {
  readonly applicationId: number;
  /** With its article, for messages. */
  readonly what: string;
  /** The n-th entry takes a file from version n to n + 1. */
  readonly migrations: readonly string[];
}

export const LOG_FORMAT: FileFormat = {
  applicationId: APPLICATION_ID,
  what: 'a log of Treadle',
  migrations: MIGRATIONS,
};
