import { TreadleError } from '../base/errors.ts';
import { systemClock } from '../base/clock.ts';
import type { Conversation } from '../domain/conversation.ts';
import type { Conversations } from '../platform/conversations.ts';
import type { Platform } from '../platform/platform.ts';
import type { Outcome } from './exit-codes.ts';
import { onSignals } from './signals.ts';

export interface DriveOptions {
  readonly timeoutMs?: number | undefined;
  /** How long to wait for another process to let the run go: a killed one holds it until its lease is over. */
  readonly patienceMs?: number | undefined;
  /** Called once when another process turns out to have the run, and once more when this one has it. */
  readonly onBusy?: ((isBusy: boolean) => void) | undefined;
  /** Opens the turn again that was being stopped, once it has stopped. */
  readonly goesOnAfterStop?: boolean | undefined;
  /** Does what is to be done while the run waits for a person. False: leave it waiting. */
  readonly onWaiting: (conversation: Conversation) => Promise<boolean>;
}

export interface Driven {
  readonly conversation: Conversation;
  /** What of it, and of the runs below it, waits for a person. */
  readonly asking?: readonly Conversation[];
  /** Set where the run did not come to its own end. */
  readonly cut?: Extract<Outcome, 'timeout' | 'interrupted' | 'terminated' | 'hangup'>;
  /** Another process has the run and goes on with it: this one only waited, and changed nothing. */
  readonly isElsewhere?: boolean;
}

/** Milliseconds that a run gets to settle after it was told to stop. */
const GRACE_MS = 5_000;

/**
 * Drives one run until it rests, within a time, under the eyes of whoever may press Ctrl-C.
 *
 * A timeout and a first Ctrl-C cancel the turn and give it a grace time; a second one leaves at once. A signal that ends
 * the process leaves the turn open in the log, for `treadle resume`. While another process has the run, all of them
 * only end the waiting: what is not driven here is not stopped here.
 */
export async function driveRun(
  { conversations, bus }: Platform,
  id: string,
  { timeoutMs, patienceMs = 0, onBusy, goesOnAfterStop = false, onWaiting }: DriveOptions,
): Promise<Driven> {
  let cut: Driven['cut'];
  let isBusy = false as boolean; // set by what is called later
  /** This process has had the run: what goes on in it is its own. */
  let isOurs = false;
  let leave: () => void = () => undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const timers: (() => void)[] = [];
  /** The turn that runs, and the one that is to stop; undefined while it has not begun. */
  let running: string | undefined;
  let meant: string | undefined;
  const cancel = (): void => {
    conversations.cancel(id, cut === 'timeout' ? 'the time limit' : 'Ctrl-C', meant).catch(leave);
  };
  const stop = (why: 'timeout' | 'interrupted'): void => {
    if (cut !== undefined) {
      leave();
      return;
    }
    cut = why;
    meant = running;
    if (isBusy) {
      leave();
      return;
    }
    timers.push(systemClock.after(GRACE_MS, leave));
    if (isOurs) cancel();
  };
  // Only a turn can be cancelled: one that begins a moment later is cancelled then. The one after it was not meant.
  const unhear = bus.on('agent.turn.*', ({ conversationId, type, turnId }) => {
    if (conversationId !== id) return;
    running = type === 'agent.turn.start' ? turnId : undefined;
    if (running === undefined || (cut !== 'timeout' && cut !== 'interrupted')) return;
    if (meant !== undefined && meant !== running) leave();
    else if (meant === undefined) {
      meant = running;
      cancel();
    }
  });
  const off = onSignals({
    interrupt: () => stop('interrupted'),
    terminate: (outcome) => {
      cut = outcome === 'hangup' ? 'hangup' : 'terminated';
      leave();
    },
  });
  if (timeoutMs !== undefined) timers.push(systemClock.after(timeoutMs, () => stop('timeout')));
  const busy = (is: boolean): void => {
    if (is !== isBusy) onBusy?.(is);
    isBusy = is;
    if (is) isOurs = false;
    if (is && cut !== undefined) leave();
  };
  const taken = (): void => {
    isOurs = true;
    busy(false);
    if (cut === 'timeout' || cut === 'interrupted') cancel();
  };
  const work = (async () => {
    let isReopened = !goesOnAfterStop;
    for (;;) {
      const conversation = await driveWhenFree(conversations, id, { patienceMs, busy, taken });
      if (!isReopened && cut === undefined && isStopped(conversation)) {
        isReopened = true;
        await conversations.resume(id, 'local');
        continue;
      }
      if (cut !== undefined || conversation.turn === undefined) return;
      // Runs below ask through this one. Where nobody asks, it waits for work outside.
      const asking = await conversations.asking(id);
      for (const one of asking) if (!(await onWaiting(one))) return;
      if (asking.length === 0) return;
    }
  })();
  try {
    await Promise.race([work, left]);
    work.catch(() => undefined); // left behind: what it has to say comes too late
    const conversation = await conversations.read(id);
    // A run that came to its own end in the same moment was not cut short.
    const last =
      conversation.turn === undefined && conversation.inbox.length === 0 ? conversation.turns.at(-1) : undefined;
    const isOver = last?.end !== undefined && last.end.status !== 'stopped';
    if (cut === undefined || isOver) return { conversation, asking: await conversations.asking(id) };
    return { conversation, cut, ...(isBusy && { isElsewhere: true }) };
  } finally {
    off();
    unhear();
    for (const release of timers) release();
  }
}

const BUSY_PAUSE_MS = 500;

interface Turns {
  readonly patienceMs: number;
  readonly busy: (is: boolean) => void;
  readonly taken: () => void;
}

async function driveWhenFree(
  conversations: Conversations,
  id: string,
  { patienceMs, busy, taken }: Turns,
): Promise<Conversation> {
  const late = systemClock.now() + patienceMs;
  for (;;) {
    try {
      return await conversations.drive(id, { onTaken: taken });
    } catch (error) {
      const isBusy = TreadleError.is(error) && error.code === 'conversation_busy';
      if (!isBusy || systemClock.now() >= late) throw error;
      busy(true);
      await new Promise<void>((resolve) => systemClock.after(BUSY_PAUSE_MS, resolve));
    }
  }
}

function isStopped({ turn, turns, inbox }: Conversation): boolean {
  return turn === undefined && inbox.length === 0 && turns.at(-1)?.end?.status === 'stopped';
}

/** `30s`, `500ms`, `2m`, `1h`; a bare number is seconds. Throws `usage`. */
export function parseDuration(text: string, place: string): number {
  const [, digits = '', unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim()) ?? [];
  const ms = Number(digits) * ({ ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit] ?? 0);
  if (digits !== '' && ms >= 1 && ms <= LONGEST_MS) return ms;
  throw new TreadleError('usage', {
    place,
    found: JSON.stringify(text),
    wanted: 'a time such as 500ms, 30s, 2m or 1h',
  });
}

const LONGEST_MS = 7 * 24 * 3_600_000;
