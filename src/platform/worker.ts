import { TreadleError } from '../base/errors.ts';
import { Stop } from '../base/stop.ts';
import type { Conversation } from '../domain/conversation.ts';
import type { ConversationMeta, Lease } from '../kernel/ports.ts';
import { drive, read } from '../loop/drive.ts';
import type { LoopPorts } from '../loop/work.ts';

export interface Worker {
  /**
   * Takes the conversation, drives it until it rests, lets go. A second call while one is under way joins it and drives
   * once more afterwards, so that nothing said in between is missed. Rejects with `conversation_busy` when another
   * process has it.
   */
  drive(meta: ConversationMeta): Promise<Conversation>;
  /** The fold of the whole log, read from where this process last left it. */
  fold(meta: ConversationMeta): Promise<Conversation>;
  /** True while this process drives the conversation: facts from outside are then delivered in its order. */
  isDriving(conversationId: string): boolean;
  /** Resolves when nothing is being driven, or after `drainMs`. No new work is begun. */
  stop(drainMs: number): Promise<void>;
}

const LEASE_MS = 15_000;
const RENEW_MS = 4_000;

/** One process's worker: one writer a conversation, held by a lease that it renews while it drives. */
export function createWorker(ports: LoopPorts): Worker {
  const owner = ports.ids.next('worker');
  const underway = new Map<string, Promise<Conversation>>();
  const known = new Map<string, Conversation>();
  const slices = new Set<Stop>();
  let stopping = false;

  async function slice(meta: ConversationMeta): Promise<Conversation> {
    if (stopping)
      throw new TreadleError('conversation_busy', {
        place: meta.id,
        hint: 'this process is shutting down; another one goes on',
      });
    const lease = await ports.log.take(meta.id, owner, LEASE_MS);
    if (lease === undefined)
      throw new TreadleError('conversation_busy', {
        place: meta.id,
        hint: 'another process is driving it; wait, or watch it there',
      });
    const stop = new Stop();
    slices.add(stop);
    const held = hold(lease, () => stop.stop());
    try {
      const conversation = await drive(ports, meta, lease, { signal: stop, known: known.get(meta.id) });
      remember(meta.id, conversation);
      return conversation;
    } finally {
      held();
      slices.delete(stop);
      await release(lease, stop.aborted);
    }
  }

  /** Renews the lease until told to stop. A lease that cannot be renewed is a lost one. */
  function hold(lease: Lease, onLost: () => void): () => void {
    let current = lease;
    let stop: () => void = () => undefined;
    let over = false;
    const renew = async (): Promise<void> => {
      const renewed = await ports.log.renew(current, LEASE_MS);
      if (over) return;
      if (renewed === undefined) {
        onLost();
        return;
      }
      current = renewed;
      arm();
    };
    const arm = (): void => {
      stop = ports.clock.after(RENEW_MS, () => {
        renew().catch((error: unknown) => {
          ports.logger.error('a lease could not be renewed', { conversation: lease.conversationId, error });
          onLost();
        });
      });
    };
    arm();
    return () => {
      over = true;
      stop();
    };
  }

  async function release(lease: Lease, unfinished: boolean): Promise<void> {
    try {
      await ports.log.release(lease, { unfinished });
    } catch (error) {
      // The lease runs out by itself; the drive's own error, if any, says more than this one.
      ports.logger.error('a lease could not be released', { conversation: lease.conversationId, error });
    }
  }

  /** The fold of a conversation that is open is kept, so that the next message reads only what is new. */
  function remember(id: string, conversation: Conversation): void {
    known.delete(id);
    known.set(id, conversation);
    const oldest = known.size > KNOWN_MAX ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
  }

  return {
    drive(meta) {
      const before = underway.get(meta.id);
      const mine = (
        before === undefined
          ? slice(meta)
          : before.then(
              () => slice(meta),
              () => slice(meta),
            )
      ).finally(() => {
        if (underway.get(meta.id) === mine) underway.delete(meta.id);
      });
      underway.set(meta.id, mine);
      return mine;
    },
    async fold(meta) {
      const conversation = await read(ports.log, meta, known.get(meta.id));
      if (!underway.has(meta.id)) remember(meta.id, conversation);
      return conversation;
    },
    isDriving: (conversationId) => underway.has(conversationId),
    async stop(drainMs) {
      stopping = true;
      for (const slice of slices) slice.stop();
      const all = Promise.allSettled(underway.values());
      await new Promise<void>((resolve) => {
        const off = ports.clock.after(drainMs, resolve);
        void all.then(() => {
          off();
          resolve();
        });
      });
    },
  };
}

/** Folds kept in memory. A conversation beyond it is read from its log again. */
const KNOWN_MAX = 256;
