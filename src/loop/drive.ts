import { assert } from '../base/assert.ts';
import type { Clock, Instant } from '../base/clock.ts';
import { isPromise, type MaybePromise } from '../base/promise.ts';
import type { StopSignal } from '../base/stop.ts';
import { emptyConversation, openActions, openRequests, openWaits, type Conversation } from '../domain/conversation.ts';
import type { Draft } from '../domain/event.ts';
import { apply } from '../domain/fold.ts';
import { statusOf } from '../domain/run.ts';
import type { ConversationMeta, Lease, Log } from '../kernel/log.ts';
import { next } from './next.ts';
import { perform } from './perform.ts';
import { reportToParent } from './delegate.ts';
import { draft, Recorder } from './recorder.ts';
import { tell, type LoopPorts, type Work } from './work.ts';

/** How much one slice may do before others have their turn: it ends before the model call that would go beyond it. */
export interface Budget {
  readonly calls: number;
  readonly ms: number;
}

export interface DriveOptions {
  /** The worker is to let go. What was begun is finished, nothing new is begun; the turn stays open and another worker goes on. */
  readonly signal?: StopSignal | undefined;
  /** The time for that is over: model calls under way are given up. Stopped only with or after `signal`. */
  readonly cut?: StopSignal | undefined;
  /** The conversation as folded before, so that only what is new is read. */
  readonly known?: Conversation | undefined;
  /** Without one it drives until rest. */
  readonly budget?: Budget | undefined;
}

/**
 * Drive a conversation until it rests: until the turn has ended and nobody waits for another, or only somebody else can
 * go on. Stops before that when it is told to let go, when its budget is used up, or between two turns when its edition
 * of the bundle is superseded.
 *
 * Read the log, decide the next command, ask the gates, act, append what happened, repeat. Needs the lease; rejects with
 * `log_fenced` when it is lost.
 */
export async function drive(
  ports: LoopPorts,
  meta: ConversationMeta,
  lease: Lease,
  { signal, cut, known, budget }: DriveOptions = {},
): Promise<Conversation> {
  // What others stated before is theirs to deliver, and what was stated here has been.
  const conversation = await read(ports.log, meta, known);
  const recorder = new Recorder(ports.log, ports.bus, lease, conversation);
  const work: Work = { ports, meta, recorder, signal, cut };
  const unwatch = ports.log.watch(meta.id, () => recorder.nudge());
  try {
    const caughtUp = recorder.catchUp();
    if (isPromise(caughtUp)) await caughtUp;
    const expired = expire(work);
    if (isPromise(expired)) await expired;
    const marked = markResumed(work);
    if (isPromise(marked)) await marked;
    await endOrphan(work);
    const isSpent = budget === undefined ? () => false : meter(budget, ports.clock);
    for (;;) {
      const command = next(recorder.conversation); // pure: decides
      if (command.type === 'rest' || letsGo(work) || (command.type === 'call_model' && isSpent())) break;
      if (command.type === 'start_turn' && ports.isSuperseded?.() === true) {
        const committed = recorder.commit();
        if (isPromise(committed)) await committed;
        return recorder.conversation;
      }
      const { head } = recorder.conversation;
      const done = perform(work, command); // the only code that acts; what it did is appended and folded in
      if (isPromise(done)) await done;
      // A command that leaves no trace would be decided again for ever.
      assert(recorder.conversation.head > head || letsGo(work), `${command.type} left nothing in the log`);
    }
    await rest(work);
    await reportToParent(work);
    return recorder.conversation;
  } finally {
    unwatch();
  }
}

/** True once so many model calls were asked about, or so much time has passed. */
function meter({ calls, ms }: Budget, clock: Clock): () => boolean {
  const until = clock.now() + ms;
  let asked = 0;
  return () => ++asked > calls || clock.now() >= until;
}

function letsGo({ signal }: Work): boolean {
  return signal?.aborted === true;
}

const PAGE = 1_000;

/** A conversation from its log, or from what is known of it on. */
export async function read(
  log: Log,
  meta: Pick<ConversationMeta, 'id' | 'agentPath'>,
  known: Conversation = emptyConversation(meta.id, meta.agentPath),
): Promise<Conversation> {
  let conversation = known;
  for (;;) {
    const page = log.read(meta.id, conversation.head, PAGE);
    const facts = isPromise(page) ? await page : page;
    for (const fact of facts) conversation = apply(conversation, fact);
    if (facts.length < PAGE) return conversation;
  }
}

/**
 * A request nobody answered in time is a denial, never consent; a ticket nobody handed in is a failure; a model call that
 * was put off may be asked for again.
 */
function expire({ recorder, ports }: Work): MaybePromise<unknown> {
  const { turn } = recorder.conversation;
  if (turn === undefined) return;
  const now = ports.clock.now();
  const place = { turnId: turn.id, iteration: turn.current?.number };
  const drafts: Draft[] = [];
  if (isLate(turn.denied?.retryAt, now)) drafts.push(draft('gate.llm.retry', {}, place));
  for (const { deadline, request } of openRequests(turn))
    if (isLate(deadline, now)) drafts.push(draft('hitl.cancel', { request, reason: 'expired' }, place));
  for (const wait of openWaits(turn)) {
    if (wait.kind !== 'computation' || !isLate(wait.deadline, now)) continue;
    const error = { code: 'expired', message: 'Nothing was handed in before the time for it was over.' };
    const ended = { ticket: wait.ticket, outcome: 'failed', error, by: 'clock' } as const;
    drafts.push({ ...draft('computation.ended', ended, place), key: wait.ticket });
  }
  return drafts.length > 0 ? recorder.record(drafts) : undefined;
}

function isLate(deadline: Instant | undefined, now: Instant): boolean {
  return deadline !== undefined && deadline <= now;
}

/** A turn that another slice began goes on in this one: said in the log, so that nobody takes it for one run. */
async function markResumed({ recorder, ports: { revision } }: Work): Promise<void> {
  const { turn, agentDigest } = recorder.conversation;
  if (turn === undefined || agentDigest === undefined || next(recorder.conversation).type === 'rest') return;
  const another = revision === undefined || revision === turn.agent.revision ? {} : { revision };
  const goesOn = { digest: agentDigest, resumed: true, ...another };
  await recorder.record([draft('agent.turn.start', goesOn, { turnId: turn.id })]);
}

/** A turn that waited while its agent was taken out of the bundle: nothing of it may run any more, and it says so. */
async function endOrphan(work: Work): Promise<void> {
  const { recorder, ports, meta } = work;
  const { turn } = recorder.conversation;
  if (turn === undefined || turn.cancel !== 'none' || next(recorder.conversation).type === 'rest') return;
  const problem = ports.problemOf?.(meta.agent);
  if (problem === undefined) return;
  const error = { code: problem.code, message: problem.message };
  if (openActions(turn).length > 0 || openRequests(turn).length > 0)
    await perform(work, { type: 'settle', why: 'ended' });
  await perform(work, { type: 'end', status: 'error', stop: 'error', error });
}

async function rest(work: Work): Promise<void> {
  const { recorder } = work;
  const { turn } = recorder.conversation;
  tell(work, 'io.status', { state: turn === undefined ? 'idle' : 'waiting' });
  // An ended turn has said its status with its last fact.
  const done =
    turn === undefined ? recorder.commit() : recorder.record([], { row: { status: statusOf(recorder.conversation) } });
  if (isPromise(done)) await done;
}
