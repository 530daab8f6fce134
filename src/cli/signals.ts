import process from 'node:process';
import type { Outcome } from './exit-codes.ts';

export interface SignalHandlers {
  /** Ctrl-C where the terminal does not take it for itself. */
  readonly interrupt: () => void;
  /** Somebody ends this process and means the work to go on elsewhere. */
  readonly terminate: (outcome: Outcome) => void;
}

/** Hears signals until the returned function is called. */
export function onSignals({ interrupt, terminate }: SignalHandlers): () => void {
  const term = (): void => terminate('terminated');
  const hangup = (): void => terminate('hangup');
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', term);
  process.on('SIGHUP', hangup);
  return () => {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', term);
    process.off('SIGHUP', hangup);
  };
}
