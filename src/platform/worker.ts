import { TreadleError } from '../base/errors.ts';
import { Stop } from '../base/stop.ts';
import type { Conversation } from '../domain/conversation.ts';
import type { ConversationMeta, Lease } from '../kernel/ports.ts';
import { drive, read } from '../loop/drive.ts';
import type { LoopPorts } from '../loop/work.ts';

export interface DriveOptions {
  /** Milliseconds. A process that died lets go after LEASE_MS. */
  readonly waitMs?: number | undefined;
  /** Called when this process has the conversation: from then on it is the one that drives. */
  readonly onTaken?: (() => void) | undefined;
}

export interface Worker {
  /**
   * Takes the conversation, drives it until it rests, lets go. A second call while one is under way joins it and drives
   * once more afterwards, so that nothing said in between is missed. While another process has it, waits for up to
   * `waitMs` (not at all), then rejects with `conversation_busy`.
   */
  drive(meta: ConversationMeta, options?: DriveOptions): Promise<Conversation>;
  /** The fold of the whole log, read from where this process last left it. */
  fold(meta: ConversationMeta): Promise<Conversation>;
  /** True while this process drives the conversation: facts from outside are then delivered in its order. */
  isDriving(conversationId: string): boolean;
  /** Resolves when nothing is being driven, or after `drainMs`. No new work is begun. */
  stop(drainMs: number): Promise<void>;
}

/** How long a process that died keeps its conversations from the others. */
export const LEASE_MS = 15_000;
/** Between two looks at a lease that another process has. */
const LOOK_AGAIN_MS = 250;
const RENEW_MS = 4_000;

/** One process's worker: one writer a conversation, held by a lease that it renews while it drives. */
export function createWorker(ports: LoopPorts): Worker {
  const owner = ports.ids.next('worker');
  const underway = new Map<string, Promise<Conversation>>();
  const known = new Map<string, Conversation>();
  const slices = new Map<Stop, Lease>();
  let stopping = false;

  async function lease(meta: ConversationMeta, waitMs: number): Promise<Lease> {
    const until = ports.clock.now() + waitMs;
    for (;;) {
      if (stopping) throw busy(meta, 'this process is shutting down; another one goes on');
      const taken = await ports.log.take(meta.id, owner, LEASE_MS);
      if (taken !== undefined) return taken;
      if (ports.clock.now() >= until) throw busy(meta, 'another process is driving it; wait, or watch it there');
      await new Promise<void>((resolve) => void ports.clock.after(LOOK_AGAIN_MS, resolve));
    }
  }

  async function slice(meta: ConversationMeta, { waitMs = 0, onTaken }: DriveOptions): Promise<Conversation> {
    const taken = await lease(meta, waitMs);
    onTaken?.();
    const stop = new Stop();
    slices.set(stop, taken);
    const held = hold(taken, () => stop.stop());
    try {
      const conversation = await drive(ports, meta, taken, { signal: stop, known: known.get(meta.id) });
      remember(meta.id, conversation);
      return conversation;
    } finally {
      held();
      slices.delete(stop);
      await release(taken, stop.aborted);
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
    drive(meta, options = {}) {
      const before = underway.get(meta.id);
      const begin = (): Promise<Conversation> => slice(meta, options);
      const mine = (before === undefined ? begin() : before.then(begin, begin)).finally(() => {
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
      for (const slice of slices.keys()) slice.stop();
      const all = Promise.allSettled(underway.values());
      await new Promise<void>((resolve) => {
        const off = ports.clock.after(drainMs, resolve);
        void all.then(() => {
          off();
          resolve();
        });
      });
      // Whoever goes on need not wait for a lease that nobody here will use: what still runs can no longer write.
      for (const lease of slices.values()) await release(lease, true);
    },
  };
}

/** Folds kept in memory. A conversation beyond it is read from its log again. */
const KNOWN_MAX = 256;

function busy(meta: ConversationMeta, hint: string): TreadleError {
  return new TreadleError('conversation_busy', { place: meta.id, hint });
}
