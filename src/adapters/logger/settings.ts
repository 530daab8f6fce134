import { TreadleError } from '../../base/errors.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ['json', 'text'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface LogSettings {
  readonly level: LogLevel;
  readonly format: LogFormat;
}

export interface LogSettingsOptions {
  /** Named on the command line; stands over the environment. */
  readonly level?: string | undefined;
  readonly format?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether a person reads the lines: text by default there, JSON elsewhere. */
  readonly isTerminal: boolean;
}

/** How much is logged, and how: options, then `TREADLE_LOG_LEVEL` and `TREADLE_LOG_FORMAT`. Throws `usage`. */
export function logSettings({ level, format, environment, isTerminal }: LogSettingsOptions): LogSettings {
  return {
    level:
      oneOf(LOG_LEVELS, [
        ['--log-level', level],
        ['TREADLE_LOG_LEVEL', environment['TREADLE_LOG_LEVEL']],
      ]) ?? 'info',
    format:
      oneOf(LOG_FORMATS, [
        ['--log-format', format],
        ['TREADLE_LOG_FORMAT', environment['TREADLE_LOG_FORMAT']],
      ]) ?? (isTerminal ? 'text' : 'json'),
  };
}

/** Values of variables that hold a secret by their name: what no log line may show. */
export function secretsOf(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && SECRET_VARIABLES.test(name) ? [value] : [],
  );
}

const SECRET_VARIABLES = /KEY|TOKEN|SECRET|PASSW(OR)?D|CREDENTIAL/i;

function oneOf<T extends string>(
  known: readonly T[],
  given: readonly (readonly [place: string, value: string | undefined])[],
): T | undefined {
  for (const [place, value] of given) {
    if (value === undefined || value === '') continue;
    const found = known.find((one) => one === value.toLowerCase());
    if (found !== undefined) return found;
    throw new TreadleError('usage', { place, found: JSON.stringify(value), wanted: known.join(', ') });
  }
  return undefined;
}
