import process from 'node:process';
import type { Logger } from '../kernel/logger.ts';
import type { Context } from './context.ts';
import { EXIT_CODES } from './exit-codes.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Resolves with the first signal that says to stop. The second one ends the process at once. */
export async function untilTold({ terminal }: Context, logger: Logger, drainMs: number): Promise<void> {
  const signal = await firstSignal();
  for (const one of SIGNALS)
    process.once(one, (second) => process.exit(EXIT_CODES[second === 'SIGINT' ? 'interrupted' : 'terminated'].code));
  logger.info('shutting down', { signal, drainMs });
  terminal.err.write('Letting work under way finish; once more ends it at once.\n');
}

function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const heard = (signal: NodeJS.Signals): void => {
      for (const one of SIGNALS) process.off(one, heard);
      resolve(signal);
    };
    for (const one of SIGNALS) process.on(one, heard);
  });
}
