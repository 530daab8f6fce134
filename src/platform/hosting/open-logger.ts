import { logSettings, secretsOf } from '../../adapters/logger/settings.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Environment } from '../bundle/environment.ts';

export interface OpenLoggerOptions {
  readonly environment: Environment;
  /** Named on the command line; `TREADLE_LOG_LEVEL`, then `info`, when absent. */
  readonly level?: string | undefined;
  /** Named on the command line; `TREADLE_LOG_FORMAT`, then what the reader is, when absent. */
  readonly format?: string | undefined;
  /** Whether a person reads the lines. */
  readonly isTerminal: boolean;
  readonly color?: boolean | undefined;
  /** Where lines go, each with its newline; standard error when absent. */
  readonly write?: ((line: string) => void) | undefined;
}

/** Log lines for operators, with every secret of the environment taken out. Loads its package with the first call. Throws `usage`. */
export async function openLogger({
  environment,
  level,
  format,
  isTerminal,
  color,
  write,
}: OpenLoggerOptions): Promise<Logger> {
  const settings = logSettings({ level, format, environment, isTerminal });
  const { createLogger } = await import('../../adapters/logger/pino.ts');
  return createLogger({ ...settings, secrets: secretsOf(environment), color, write });
}
