import { TreadleError } from '../../base/errors.ts';
import type { ConversationMeta, Lease, ReleaseOptions } from '../../kernel/log.ts';
import type { LoopPorts } from '../../loop/work.ts';

/** The leases of one worker. */
export interface Leases {
  /** Waits for up to `waitMs` while another process has it, then rejects with `conversation_busy`. */
  readonly take: (meta: ConversationMeta, waitMs: number) => Promise<Lease>;
  /** Renews the lease until told to stop. A lease that cannot be renewed is a lost one. */
  readonly hold: (lease: Lease, onLost: () => void) => () => void;
  /** Never rejects. */
  readonly release: (lease: Lease, options: ReleaseOptions) => Promise<void>;
}

/** Between two looks at a lease that another process has. */
const LOOK_AGAIN_MS = 250;

export function createLeases(
  ports: Pick<LoopPorts, 'clock' | 'log' | 'logger'>,
  {
    owner,
    leaseMs,
    isStopping,
  }: { readonly owner: string; readonly leaseMs: number; readonly isStopping: () => boolean },
): Leases {
  async function take(meta: ConversationMeta, waitMs: number): Promise<Lease> {
    const until = ports.clock.now() + waitMs;
    for (;;) {
      if (isStopping()) throw busy(meta, 'this process is shutting down; another one goes on');
      const taken = await ports.log.take(meta.id, owner, leaseMs);
      if (taken !== undefined) return taken;
      if (ports.clock.now() >= until) throw busy(meta, 'another process is driving it; wait, or watch it there');
      await new Promise<void>((resolve) => void ports.clock.after(LOOK_AGAIN_MS, resolve));
    }
  }

  function hold(lease: Lease, onLost: () => void): () => void {
    let current = lease;
    let stop: () => void = () => undefined;
    let over = false;
    const renew = async (): Promise<void> => {
      const renewed = await ports.log.renew(current, leaseMs);
      if (over) return;
      if (renewed === undefined) {
        onLost();
        return;
      }
      current = renewed;
      arm();
    };
    const arm = (): void => {
      stop = ports.clock.after(leaseMs / 4, () => {
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

  async function release(lease: Lease, options: ReleaseOptions): Promise<void> {
    try {
      await ports.log.release(lease, options);
    } catch (error) {
      // The lease runs out by itself; the drive's own error, if any, says more than this one.
      ports.logger.error('a lease could not be released', { conversation: lease.conversationId, error });
    }
  }

  return { take, hold, release };
}

function busy(meta: ConversationMeta, hint: string): TreadleError {
  return new TreadleError('conversation_busy', { place: meta.id, hint });
}
