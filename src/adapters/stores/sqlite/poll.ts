import type { Outage } from '../outage.ts';
import type { Schedule } from '../schedule.ts';
import type { Watchers } from '../watchers.ts';

const POLL_MS = 200;

export interface Poll {
  /** Somebody watches the conversation from now on; without one, for work of any. */
  start(conversationId?: string): void;
  /** Nobody watches any more. */
  stop(): void;
}

/**
 * Notices what other processes state. Looks while somebody watches, and only then has a timer.
 *
 * `version` changes when another process has written anything; the heads tell whose conversation it was.
 */
export function createPoll(
  watchers: Watchers,
  schedule: Schedule,
  look: { readonly version: () => number; readonly head: (conversationId: string) => number },
  outage: Outage,
): Poll {
  const heads = new Map<string, number>();
  let version: number | undefined;
  let cancel: (() => void) | undefined;

  function poll(): void {
    cancel = schedule(POLL_MS, poll);
    try {
      const now = look.version();
      outage.passed();
      if (now === version) return;
      version = now;
      for (const id of heads.keys()) if (!watchers.watched.has(id)) heads.delete(id);
      for (const id of [...watchers.watched.keys()]) {
        const head = look.head(id);
        if (heads.get(id) === head) continue;
        heads.set(id, head);
        watchers.notify(id);
      }
      watchers.notifyOfWork();
    } catch (problem) {
      outage.failed(problem);
    }
  }

  return {
    start(conversationId) {
      if (cancel === undefined) {
        version = look.version();
        cancel = schedule(POLL_MS, poll);
      }
      if (conversationId !== undefined && !heads.has(conversationId))
        heads.set(conversationId, look.head(conversationId));
    },
    stop() {
      cancel?.();
      cancel = undefined;
      heads.clear();
    },
  };
}
