import type { Environment } from '../platform/environment.ts';
import type { Outcome } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** What every command is given besides its arguments. */
export interface Context {
  readonly terminal: Terminal;
  readonly environment: Environment;
}

/** Does its work and says how it came out. Throws `TreadleError` for mistakes of the caller. */
export type Command<A extends unknown[]> = (context: Context, ...given: A) => Promise<Outcome>;
