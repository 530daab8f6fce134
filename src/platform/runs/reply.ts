import { TreadleError } from '../../base/errors.ts';
import type { FactPayload } from '../../domain/event.ts';
import { entryAt, lengthOf, type Timeline } from '../../domain/timeline.ts';
import type { ConversationRow } from '../../kernel/log.ts';
import { checkedAnswer } from '../answers.ts';
import type { Caller } from './caller.ts';
import { askedIn } from './open-requests.ts';
import { bundleOf, post, stateNow, type RunsPorts } from './ports.ts';
import type { SayToRun } from './runs.ts';

/**
 * Takes what is said to a run that waits for an answer as that answer: whoever writes to it means its question.
 *
 * Undefined when it is none: a mode was named, something is attached, or nobody was asked. Otherwise whether it is new.
 */
export async function reply(
  ports: RunsPorts,
  { userId }: Caller,
  row: ConversationRow,
  { content, mode, attachments }: SayToRun,
  once: string | undefined,
): Promise<boolean | undefined> {
  if (mode !== undefined || attachments !== undefined) return undefined;
  const { status, fold, requests } = await stateNow(ports, row);
  const before = once === undefined ? undefined : answerWith(fold.timeline, once);
  if (before !== undefined && before.text !== content)
    throw new TreadleError('idempotency_conflict', { hint: 'a request that differs needs a key of its own' });
  if (before !== undefined) return false;
  if (status !== 'awaiting_user_input') return undefined;
  const [question, second] = requests.filter((one) => one.run === row.id && one.kind === 'input');
  if (question === undefined) return undefined;
  if (second !== undefined)
    throw new TreadleError('ambiguous_request', { place: row.id, hint: 'answer the questions by id and digest' });
  const answer = { request: question.id, decision: 'reply' as const, text: content, by: userId };
  const payload = checkedAnswer(fold.conversation, answer, bundleOf(ports, row).ports.agents);
  const { fresh } = await post(ports, row, {
    type: 'hitl.responded',
    payload: once === undefined ? payload : { ...payload, key: once },
    key: question.id,
    turnId: fold.conversation.turn?.id,
  });
  return fresh ? true : undefined; // somebody was faster: what this one says is a message then
}

/** The answer that was sent with this key. */
function answerWith(timeline: Timeline, key: string): FactPayload<'hitl.responded'> | undefined {
  for (let position = lengthOf(timeline); position > 0; position--) {
    const entry = entryAt(timeline, position);
    const asked = entry === undefined ? undefined : askedIn(entry).find((one) => one.answer?.key === key);
    if (asked !== undefined) return asked.answer;
  }
  return undefined;
}
