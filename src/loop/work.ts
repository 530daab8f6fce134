import type { Clock } from '../base/clock.ts';
import type { TreadleError } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import { assert } from '../base/assert.ts';
import { isPromise } from '../base/promise.ts';
import type { StopSignal } from '../base/stop.ts';
import type { AnnounceBlockSource } from '../assembly/section.ts';
import type { Conversation, Turn } from '../domain/conversation.ts';
import type { Draft, FactPayload, FactType, Passing } from '../domain/event.ts';
import type { ToolDefinition } from '../domain/tool.ts';
import type { Bus } from '../kernel/bus.ts';
import type { AgentSource } from '../kernel/agent-source.ts';
import type { AllowanceStore } from '../kernel/choices.ts';
import type { ConversationMeta, Log } from '../kernel/log.ts';
import type { Logger } from '../kernel/logger.ts';
import type { ModelSource } from '../kernel/model.ts';
import type { GivenVerdict, QuestionType } from '../kernel/verdict.ts';
import { draft, type Recorder } from './recorder.ts';

/** Everything the loop needs of the outside, handed in by the composition root. */
export interface LoopPorts {
  readonly log: Log;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly models: ModelSource;
  readonly agents: AgentSource;
  readonly logger: Logger;
  readonly blocks: AnnounceBlockSource;
  /** Of the bundle that these ports belong to. Absent where there is but one. */
  readonly revision?: string | undefined;
  /** Another edition of the bundle counts for turns that begin now. Never, when absent. */
  readonly isSuperseded?: (() => boolean) | undefined;
  /** Why an agent cannot go on: the bundle does not have it any more. */
  readonly problemOf?: ((agent: string) => TreadleError | undefined) | undefined;
  /** The bundle does not have a tool of a turn any more, under its name or in its group. Never, when absent. */
  readonly isTakenOut?: ((agent: string, tool: ToolDefinition) => boolean) | undefined;
  /** What users have allowed for always. Absent: nobody can. */
  readonly allowances?: Pick<AllowanceStore, 'allowancesOf'> | undefined;
}

/** One worker's work on one conversation: the ports, the pen, and the wish to stop. */
export interface Work {
  readonly ports: LoopPorts;
  readonly meta: ConversationMeta;
  readonly recorder: Recorder;
  /** The worker is to let go: what was begun is finished, nothing new is begun. Not a cancel. */
  readonly signal: StopSignal | undefined;
  /** The time for that is over, or the lease was lost: what can be begun anew is given up. Never without `signal`. */
  readonly cut: StopSignal | undefined;
}

export function openTurn(work: Work): Turn {
  const { turn } = work.recorder.conversation;
  assert(turn !== undefined, 'a command of a turn without a turn');
  return turn;
}

/** A draft of the open turn. */
export function inTurn<T extends FactType>(turn: Turn, type: T, payload: FactPayload<T>, causedBy?: string): Draft {
  return draft(type, payload, { turnId: turn.id, iteration: turn.current?.number, causedBy });
}

/** What gates said, for the record. Nothing is recorded of a gate that had nothing to say. */
export function verdictDrafts(
  turn: Turn,
  question: QuestionType,
  verdicts: readonly GivenVerdict[],
  action?: string,
): Draft[] {
  return verdicts.map((given) =>
    inTurn(turn, 'gate.verdict', action === undefined ? { question, ...given } : { question, ...given, action }),
  );
}

/** Waits for what gates say. What has happened is committed first: nobody knows how long they think. */
export async function answered<T>({ recorder }: Work, asked: Promise<T>): Promise<T> {
  const committed = recorder.commit();
  if (isPromise(committed)) await committed;
  return asked;
}

/** Tells whoever listens now. Costs nothing when nobody does. */
export function tell<T extends Passing['type']>(
  work: Work,
  type: T,
  payload: Extract<Passing, { type: T }>['payload'],
): void {
  const { bus, clock } = work.ports;
  if (!bus.isHeard(type)) return;
  const { id, agentPath, turn } = work.recorder.conversation;
  // type and payload belong together by the signature
  bus.deliver({
    type,
    payload,
    conversationId: id,
    agentPath,
    at: clock.now(),
    turnId: turn?.id,
    iteration: turn?.current?.number,
  } as Passing);
}

/** True when no new effect may start and those that run should stop: a cancel, a steer, or a worker that lets go. */
export function isInterrupted({ recorder, signal }: Work): boolean {
  return signal?.aborted === true || wantsToStop(recorder.conversation);
}

/** True when the turn is to stop, or the worker is to let go: whatever would be next, it is not for this worker now. */
export function isOver({ recorder, signal }: Work): boolean {
  const { turn } = recorder.conversation;
  return signal?.aborted === true || turn === undefined || turn.cancel !== 'none';
}

/** A cancel, or a steer that nobody has read yet. */
export function wantsToStop({ turn }: Conversation): boolean {
  return turn !== undefined && (turn.cancel !== 'none' || turn.pending.some((one) => one.mode === 'steer'));
}

/**
 * Calls back once, when somebody wants the running effect to stop; soon, when they want it already. Never before it has
 * returned. The returned function ends the watch.
 */
export function onStop(work: Work, callback: () => void): () => void {
  return watch(work, wantsToStop, callback);
}

function watch(work: Work, isReason: typeof wantsToStop, callback: () => void): () => void {
  let over = false;
  const end = (): void => {
    over = true;
    off();
  };
  const check = (): void => {
    if (over || !isReason(work.recorder.conversation)) return;
    end();
    callback();
  };
  const off = work.recorder.onMoved(check);
  if (isReason(work.recorder.conversation)) queueMicrotask(check);
  return end;
}

/** The same, and also when the worker has no time left: for effects that can be begun anew by the next one. */
export function onInterrupt(work: Work, callback: () => void): () => void {
  return watchFor(work, work.cut, wantsToStop, callback);
}

/** The same, but a steer is no reason: it is read next in any case, and what is under way is needed for that. */
export function onOver(work: Work, callback: () => void): () => void {
  return watchFor(work, work.cut, ({ turn }) => turn === undefined || turn.cancel !== 'none', callback);
}

function watchFor(
  work: Work,
  signal: StopSignal | undefined,
  isReason: typeof wantsToStop,
  callback: () => void,
): () => void {
  let over = false;
  const end = (): void => {
    over = true;
    off();
    signal?.removeEventListener('abort', letGo);
  };
  const letGo = (): void => {
    if (over) return;
    end();
    callback();
  };
  const off = watch(work, isReason, letGo);
  signal?.addEventListener('abort', letGo);
  if (signal?.aborted === true) queueMicrotask(letGo);
  return end;
}

/** Waits, until something that was said or done meanwhile ends the wait. */
export async function pause(work: Work, ms: number): Promise<void> {
  const committed = work.recorder.commit();
  if (isPromise(committed)) await committed;
  if (ms <= 0 || isOver(work)) return;
  await new Promise<void>((resolve) => {
    const release = work.ports.clock.after(ms, finish);
    const end = watchFor(work, work.signal, wantsToStop, finish); // a wait is nothing to be finished
    function finish(): void {
      release();
      end();
      resolve();
    }
  });
}
