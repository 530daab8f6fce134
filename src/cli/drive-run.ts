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
  /** Does what is to be done while the run waits for a person. False: leave it waiting. */
  readonly onWaiting: (conversation: Conversation) => Promise<boolean>;
}

export interface Driven {
  readonly conversation: Conversation;
  /** Set where the run did not come to its own end. */
  readonly cut?: Extract<Outcome, 'timeout' | 'interrupted' | 'terminated' | 'hangup'>;
}

/** Milliseconds that a run gets to settle after it was told to stop. */
const GRACE_MS = 5_000;

/**
 * Drives one run until it rests, within a time, under the eyes of whoever may press Ctrl-C.
 *
 * A timeout and a first Ctrl-C cancel the turn and give it a grace time; a second one leaves at once. A signal that ends
 * the process leaves the turn open in the log, for `treadle resume`.
 */
export async function driveRun(
  { conversations, bus }: Platform,
  id: string,
  { timeoutMs, patienceMs = 0, onWaiting }: DriveOptions,
): Promise<Driven> {
  let cut: Driven['cut'];
  let leave: () => void = () => undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const timers: (() => void)[] = [];
  const cancel = (): void => {
    conversations.cancel(id, cut === 'timeout' ? 'the time limit' : 'Ctrl-C').catch(leave);
  };
  const stop = (why: 'timeout' | 'interrupted'): void => {
    if (cut !== undefined) {
      leave();
      return;
    }
    cut = why;
    timers.push(systemClock.after(GRACE_MS, leave));
    cancel();
  };
  // Only a turn can be cancelled: one that begins a moment later is cancelled then.
  const unhear = bus.on('agent.turn.start', (event) => {
    if (event.conversationId === id && (cut === 'timeout' || cut === 'interrupted')) cancel();
  });
  const off = onSignals({
    interrupt: () => stop('interrupted'),
    terminate: (outcome) => {
      cut = outcome === 'hangup' ? 'hangup' : 'terminated';
      leave();
    },
  });
  if (timeoutMs !== undefined) timers.push(systemClock.after(timeoutMs, () => stop('timeout')));
  const work = (async () => {
    for (;;) {
      const conversation = await driveWhenFree(conversations, id, patienceMs, () => cut !== undefined);
      if (cut !== undefined || conversation.turn === undefined || !(await onWaiting(conversation))) return;
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
    return cut === undefined || isOver ? { conversation } : { conversation, cut };
  } finally {
    off();
    unhear();
    for (const release of timers) release();
  }
}

const BUSY_PAUSE_MS = 500;

async function driveWhenFree(
  conversations: Conversations,
  id: string,
  patienceMs: number,
  isCut: () => boolean,
): Promise<Conversation> {
  const late = systemClock.now() + patienceMs;
  for (;;) {
    try {
      return await conversations.drive(id);
    } catch (error) {
      const isBusy = TreadleError.is(error) && error.code === 'conversation_busy';
      if (!isBusy || isCut() || systemClock.now() >= late) throw error;
      await new Promise<void>((resolve) => systemClock.after(BUSY_PAUSE_MS, resolve));
    }
  }
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
