import { isPromise, type MaybePromise } from '../../base/promise.ts';
import type { Conversation } from '../../domain/conversation.ts';
import type { RunLimits } from '../../domain/run-limits.ts';
import type { Payer, RunTree } from './run-tree.ts';

export interface LimitsReader {
  /** Limits of a run and of those above it, as they are now. */
  read(payer: Payer, conversation: Conversation): MaybePromise<(runId: string) => RunLimits | undefined>;
}

/** Limits as runs were created with them. */
export function createLimitsReader(tree: RunTree): LimitsReader {
  return {
    read(payer) {
      const [own = '', ...above] = payer.runs;
      const limits = new Map<string, RunLimits | undefined>([[own, payer.meta.limits]]);
      const late: Promise<void>[] = [];
      for (const id of above) {
        const keep = (one: Payer | undefined): void => {
          limits.set(id, one?.meta.limits);
        };
        const found = tree.payer(id);
        if (isPromise(found)) late.push(found.then(keep));
        else keep(found);
      }
      const read = (id: string): RunLimits | undefined => limits.get(id);
      return late.length > 0 ? Promise.all(late).then(() => read) : read;
    },
  };
}
