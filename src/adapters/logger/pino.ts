import { pino } from 'pino';
import type { Logger } from '../../kernel/logger.ts';
import type { LogSettings } from './settings.ts';
import { createRedactor } from './redact.ts';
import { readableLine } from './readable.ts';

export interface LoggerOptions extends Partial<LogSettings> {
  /** Where lines go, each with its newline; the process's standard error when absent. */
  readonly write?: ((line: string) => void) | undefined;
  /** Fields of every line, such as the version. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  /** Values that no line may show, whatever they look like. */
  readonly secrets?: readonly string[] | undefined;
  readonly color?: boolean | undefined;
}

/**
 * Log lines for operators: one JSON object a line for programs, or one readable line for people.
 *
 * Every message and field goes through the redactor first. A line never throws: what cannot be said is left out.
 */
export function createLogger(options: LoggerOptions = {}): Logger {
  const { level = 'info', format = 'json', fields = {}, secrets = [], color = false, write } = options;
  const redactor = createRedactor(secrets);
  const sink = write === undefined ? pino.destination({ fd: 2, sync: true }) : { write };
  const destination =
    format === 'json' ? sink : { write: (line: string) => void sink.write(readableLine(line, { color })) };
  const lines = pino(
    {
      level,
      base: redactor.fields(fields),
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );

  function say(at: 'debug' | 'info' | 'warn' | 'error') {
    return (message: string, given: Readonly<Record<string, unknown>> = {}): void => {
      if (!lines.isLevelEnabled(at)) return;
      try {
        lines[at](redactor.fields(given), redactor.text(message));
      } catch (problem) {
        // A field with a getter that throws must not take a run with it.
        lines[at]({ unsaid: String(problem) }, redactor.text(message));
      }
    };
  }
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
}
