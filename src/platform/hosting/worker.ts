import { retryDelayMs } from '../../adapters/engines/embedded.ts';
import { TreadleError } from '../../base/errors.ts';
import type { Instant } from '../../base/clock.ts';
import { Stop } from '../../base/stop.ts';
import { openWaits, type Conversation } from '../../domain/conversation.ts';
import { statusOf, wakeAt } from '../../domain/run.ts';
import { statusKind } from '../../domain/status.ts';
import type { ConversationMeta, Lease, ReleaseOptions } from '../../kernel/log.ts';
import type { SliceControl, SliceEnd } from '../../kernel/engine.ts';
import { drive, read, type Budget, type DriveOptions as LoopOptions } from '../../loop/drive.ts';
import { next } from '../../loop/next.ts';
import type { LoopPorts } from '../../loop/work.ts';
import { createLeases } from './leases.ts';

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
   *
   * Runs below that it waits for are driven too, and so is the one above when this run has ended: a program that drives
   * needs no engine.
   */
  drive(meta: ConversationMeta, options?: DriveOptions): Promise<Conversation>;
  /**
   * One slice, as an engine gives it: takes the lease, drives until rest or for as long as one conversation may keep the
   * others waiting, lets go. Nothing happens while anybody else drives it. Rejects when the slice failed; the conversation
   * is then ready again after a while, longer with each attempt.
   */
  slice(meta: ConversationMeta, control: SliceControl): Promise<SliceEnd>;
  /** The fold of the whole log, read from where this process last left it. */
  fold(meta: ConversationMeta): Promise<Conversation>;
  /** True while this process drives the conversation: facts from outside are then delivered in its order. */
  isDriving(conversationId: string): boolean;
  /**
   * No new work is begun. What is under way, model calls too, has `drainMs` to finish, and keeps its lease for so long; then
   * it is given up. Resolves when nothing is being driven any more, or soon after `drainMs`.
   */
  stop(drainMs: number): Promise<void>;
}

/** Under which edition of its bundle a conversation is driven. */
export interface DrivenPorts {
  readonly ports: LoopPorts;
  /** To be called with what came of it; `undefined` when that is not known. */
  left(conversation: Conversation | undefined): void;
}

export interface WorkerOptions {
  readonly leaseMs?: number | undefined;
  /** Asked before each drive. Absent: there is but one edition. */
  readonly portsFor?: ((conversationId: string) => DrivenPorts) | undefined;
}

/** How long a process that died keeps its conversations from the others. */
export const LEASE_MS = 15_000;
/** For model calls that were given up to say so in the log. */
const CUT_MS = 250;
/** Model calls and milliseconds of one slice. */
const SLICE: Budget = { calls: 50, ms: 600_000 };

/** One process's worker: one writer a conversation, held by a lease that it renews while it drives. */
export function createWorker(
  ports: LoopPorts,
  { leaseMs = LEASE_MS, portsFor = () => ({ ports, left: () => undefined }) }: WorkerOptions = {},
): Worker {
  const owner = ports.ids.next('worker');
  const underway = new Map<string, Promise<Conversation>>();
  const known = new Map<string, Conversation>();
  const slices = new Set<UnderWay>();
  const waiting = new Set<() => void>();
  let stopping = false;
  const leases = createLeases(ports, { owner, leaseMs, isStopping: () => stopping });

  async function takeAndDrive(meta: ConversationMeta, options: DriveOptions & SliceOptions): Promise<Conversation> {
    const { waitMs = 0, onTaken, budget, control } = options;
    const taken = await leases.take(meta, waitMs);
    onTaken?.();
    const stop = new Stop();
    const cut = new Stop();
    const letGo = (): void => stop.stop();
    const giveUp = (): void => {
      stop.stop();
      cut.stop();
    };
    control?.signal.addEventListener('abort', letGo);
    if (control?.signal.aborted === true || stopping) stop.stop();
    const slice = { stop, cut, lease: taken };
    slices.add(slice);
    const held = leases.hold(taken, giveUp);
    let left: ReleaseOptions = { unfinished: true };
    try {
      const conversation = await driveOn(meta, taken, { signal: stop, cut, budget });
      left = { unfinished: next(conversation).type !== 'rest', continueAt: wakeAt(conversation) };
      return conversation;
    } catch (error) {
      if (!stop.aborted) left = { continueAt: ports.clock.now() + retryDelayMs(control?.attempt ?? 1) };
      throw error;
    } finally {
      held();
      control?.signal.removeEventListener('abort', letGo);
      slices.delete(slice);
      await leases.release(taken, left);
    }
  }

  /** Drives, and goes on under the next edition of the bundle where one counts from a turn of these on. */
  async function driveOn(meta: ConversationMeta, taken: Lease, options: LoopOptions): Promise<Conversation> {
    for (;;) {
      const under = portsFor(meta.id);
      let conversation: Conversation | undefined;
      try {
        conversation = await drive(under.ports, meta, taken, { ...options, known: known.get(meta.id) });
        remember(meta.id, conversation);
      } finally {
        under.left(conversation);
      }
      const isNext = next(conversation).type === 'start_turn' && under.ports.isSuperseded?.() === true;
      if (!isNext || options.signal?.aborted === true) return conversation;
    }
  }

  function within(ms: number, work: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const off = ports.clock.after(ms, resolve);
      void work.then(() => {
        off();
        resolve();
      });
    });
  }

  /** The fold of a conversation that is open is kept, so that the next message reads only what is new. */
  function remember(id: string, conversation: Conversation): void {
    known.delete(id);
    known.set(id, conversation);
    const oldest = known.size > KNOWN_MAX ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
  }

  function join(meta: ConversationMeta, options: DriveOptions & SliceOptions): Promise<Conversation> {
    const before = underway.get(meta.id);
    const begin = (): Promise<Conversation> => takeAndDrive(meta, options);
    const mine = (before === undefined ? begin() : before.then(begin, begin)).finally(() => {
      if (underway.get(meta.id) === mine) underway.delete(meta.id);
    });
    underway.set(meta.id, mine);
    return mine;
  }

  /** Drives a run and those below it that it waits for, until none of them gets on. */
  async function driveDown(meta: ConversationMeta, options: DriveOptions): Promise<Conversation> {
    const below = new Set<Promise<unknown>>();
    try {
      for (;;) {
        const conversation = await join(meta, options);
        const children = childrenOf(conversation);
        if (children.length === 0) {
          const until = conversation.turn?.denied?.retryAt;
          if (until === undefined || stopping) return conversation;
          await putOff(meta, until);
          continue;
        }
        let moved: () => void = () => undefined;
        const move = new Promise<void>((resolve) => (moved = resolve));
        const unwatch = ports.log.watch(meta.id, moved);
        // A stop of this run is seen at once, while those below still work.
        const work = Promise.all(children.map(driveChild));
        below.add(work);
        await Promise.race([work, move]);
        unwatch();
        const head = (await ports.log.find(meta.id))?.head;
        if (head === undefined || head === conversation.head) return conversation;
      }
    } finally {
      if (below.size > 0) await Promise.allSettled(below);
    }
  }

  /** Waits for the time at which a model call may be asked for again, or for somebody to say something. */
  async function putOff(meta: ConversationMeta, until: Instant): Promise<void> {
    await new Promise<void>((resolve) => {
      const release = ports.clock.after(until - ports.clock.now(), finish);
      const unwatch = ports.log.watch(meta.id, finish);
      waiting.add(finish);
      function finish(): void {
        release();
        unwatch();
        waiting.delete(finish);
        resolve();
      }
    });
  }

  async function driveChild(id: string): Promise<void> {
    const meta = await ports.log.find(id);
    if (meta === undefined) return;
    try {
      await driveDown(meta, {});
    } catch (error) {
      if (!TreadleError.is(error) || error.code !== 'conversation_busy') throw error; // another process gets on with it
    }
  }

  /** A run that was begun by another one and has ended: that one goes on, and those above it. */
  async function driveUp(meta: ConversationMeta, { turn }: Conversation): Promise<void> {
    if (turn !== undefined || meta.parent === undefined) return;
    const parent = await ports.log.find(meta.parent.id);
    if (parent === undefined || underway.has(parent.id)) return;
    await driveChild(parent.id);
    await driveUp(parent, await read(ports.log, parent, known.get(parent.id)));
  }

  return {
    async drive(meta, options = {}) {
      const conversation = await driveDown(meta, options);
      await driveUp(meta, conversation);
      return conversation;
    },
    async slice(meta, control) {
      if (underway.has(meta.id)) return 'idle'; // its end says whether there is more
      try {
        const conversation = await join(meta, { control, budget: SLICE });
        return endOf(conversation);
      } catch (error) {
        if (!TreadleError.is(error) || (error.code !== 'conversation_busy' && error.code !== 'log_fenced')) throw error;
        if (error.code === 'log_fenced') ports.logger.warn('another worker has taken over', { conversation: meta.id });
        return 'idle';
      }
    },
    async fold(meta) {
      const conversation = await read(ports.log, meta, known.get(meta.id));
      if (!underway.has(meta.id)) remember(meta.id, conversation);
      return conversation;
    },
    isDriving: (conversationId) => underway.has(conversationId),
    async stop(drainMs) {
      stopping = true;
      for (const finish of waiting) finish();
      for (const { stop } of slices) stop.stop();
      const all = Promise.allSettled(underway.values());
      if (drainMs > 0) await within(drainMs, all);
      for (const { cut } of slices) cut.stop();
      if (slices.size > 0) await within(CUT_MS, all);
      // Whoever goes on need not wait for a lease that nobody here will use: what still runs can no longer write.
      for (const { lease } of slices) await leases.release(lease, { unfinished: true });
    },
  };
}

/** Folds kept in memory. A conversation beyond it is read from its log again. */
const KNOWN_MAX = 256;

/** A slice that this process works on, and how it is told to end. */
interface UnderWay {
  readonly stop: Stop;
  readonly cut: Stop;
  readonly lease: Lease;
}

interface SliceOptions {
  readonly budget?: Budget;
  readonly control?: SliceControl;
}

/** Runs that open actions wait for. */
function childrenOf({ turn }: Conversation): readonly string[] {
  const waits = turn === undefined ? [] : openWaits(turn);
  return waits.flatMap((one) => (one.kind === 'subagent' ? [one.conversation] : []));
}

function endOf(conversation: Conversation): SliceEnd {
  if (next(conversation).type !== 'rest') return {};
  const continueAt = wakeAt(conversation);
  if (continueAt !== undefined) return { continueAt };
  return statusKind(statusOf(conversation)) === 'ended' ? 'idle' : 'suspended';
}
