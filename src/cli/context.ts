import type { Environment } from '../platform/bundle/environment.ts';
import type { Terminal } from './terminal.ts';

/** What every command is given besides its arguments. */
export interface Context {
  readonly terminal: Terminal;
  readonly environment: Environment;
}
