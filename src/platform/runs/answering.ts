import { isoTime } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import type { Asked } from '../../domain/entry.ts';
import type { AgentSource } from '../../kernel/agent-source.ts';
import type { ConversationRow } from '../../kernel/log.ts';
import { keepAllowance } from '../selections/allowances.ts';
import { checkedAnswer, type Answer } from '../answers.ts';
import { permit, type Caller } from './caller.ts';
import type { RunFold } from './folds.ts';
import { findRequest, requestDigest, type FoundRequest } from './open-requests.ts';
import { bundleOf, post, runOf, snapshotNow, stateNow, type RunsPorts } from './ports.ts';
import type { Answered, Receipt, RunAnswer } from './runs.ts';
import type { Snapshot } from './snapshot.ts';
import { belowOf } from './state.ts';

/** What an answer is an answer to. */
interface Target extends FoundRequest {
  readonly row: ConversationRow;
  readonly fold: RunFold;
}

export async function answer(
  ports: RunsPorts,
  caller: Caller,
  id: string,
  answers: readonly RunAnswer[],
): Promise<Answered> {
  permit(caller, 'run');
  for (const { decision } of answers) permit(caller, decision === 'allow' || decision === 'edit' ? 'approve' : 'run');
  const row = await runOf(ports, caller, 'run', id);
  const targets: { readonly given: RunAnswer; readonly target: Target }[] = [];
  for (const [index, given] of answers.entries()) {
    const target = await targetOf(ports, row, given);
    if (targets.some((one) => one.target.row.id === target.row.id && one.given.request === given.request))
      throw new TreadleError('invalid_request', {
        place: `answers.${index}.request`,
        found: `a second answer to ${given.request}`,
        wanted: 'one answer to a request',
      });
    targets.push({ given, target });
  }
  // All are checked before the first is put on record: a mistake in one answers none.
  const drafts = targets.map(({ given, target }) => draftOf(ports, caller, given, target));
  const receipts: Receipt[] = [];
  for (const [index, { given, target }] of targets.entries()) {
    const payload = drafts[index];
    const posted =
      payload === undefined
        ? { fresh: false }
        : await post(ports, target.row, {
            type: 'hitl.responded',
            payload,
            key: given.request,
            turnId: target.fold.conversation.turn?.id,
          });
    await keepFor(ports, target);
    receipts.push(await receiptOf(ports, target.row, given.request, !posted.fresh));
  }
  const { requests, status, version } = await stateNow(ports, row);
  return { receipts, open: requests, status, version };
}

/** The request that is meant: of the run that is named, else of this one or of one below it that asks for just this. */
async function targetOf(ports: RunsPorts, row: ConversationRow, given: RunAnswer): Promise<Target> {
  const own = await lookIn(ports, row, given.request);
  const runs = own !== undefined || given.run === row.id ? [] : await belowOf(ports.log, row);
  const found = own === undefined || (given.run !== undefined && given.run !== row.id) ? [] : [own];
  for (const below of given.run === undefined || given.run === row.id ? runs : await belowOf(ports.log, row)) {
    if (given.run !== undefined && given.run !== below.id) continue;
    const target = await lookIn(ports, below, given.request);
    if (target !== undefined) found.push(target);
  }
  if (found.length === 0)
    throw new TreadleError('request_unknown', { place: row.id, found: JSON.stringify(given.request) });
  const bound = found.filter(({ asked, entry }) => requestDigest(asked, entry) === given.digest);
  if (bound.length === 0)
    throw new TreadleError('digest_mismatch', {
      place: given.request,
      hint: 'read the request again: nothing was answered',
    });
  const open = bound.filter(({ asked }) => asked.answer === undefined && asked.cancelled === undefined);
  const [first, second] = open.length > 0 ? open : bound;
  if (first !== undefined && second === undefined) return first;
  throw new TreadleError('ambiguous_request', { place: given.request, hint: 'say which `run` is meant' });
}

async function lookIn(ports: RunsPorts, row: ConversationRow, request: string): Promise<Target | undefined> {
  const fold = await ports.folds.read(row);
  const found = findRequest(fold.timeline, request);
  return found === undefined ? undefined : { ...found, row, fold };
}

/** What goes on record; nothing for a request that is answered already. Throws when it can no longer be answered. */
function draftOf(
  ports: RunsPorts,
  caller: Caller,
  given: RunAnswer,
  { asked, row, fold }: Target,
): ReturnType<typeof checkedAnswer> | undefined {
  if (asked.answer !== undefined) return undefined;
  checkOpen(asked);
  if (asked.deadline !== undefined && asked.deadline <= ports.clock.now()) {
    ports.wake(row.id); // whoever drives the run puts it on record
    throw expired(asked);
  }
  if (given.allow === 'always' && caller.userId !== row.userId)
    throw new TreadleError('answer_invalid', {
      place: given.request,
      found: `allow: always by ${caller.userId}`,
      wanted: `once or conversation, or always by ${row.userId}, whose run it is`,
    });
  return checkedAnswer(fold.conversation, answerOf(caller, given), agentsOf(ports, row, given));
}

/** What is on record counts, whoever put it there: also for a repetition, whose first attempt may have died in between. */
async function keepFor(ports: RunsPorts, { row, asked }: Target): Promise<void> {
  if (asked.allowance === undefined) return;
  const { timeline, conversation } = await ports.folds.read(row);
  const found = findRequest(timeline, asked.request)?.asked;
  if (found !== undefined) await keepAllowance(ports.allowances, row, conversation.agent, found);
}

function agentsOf(ports: RunsPorts, row: ConversationRow, { decision }: RunAnswer): AgentSource {
  // Only new arguments need the bundle's tools, to be checked.
  const bundle = decision === 'edit' ? bundleOf(ports, row) : ports.served.of(row);
  return bundle?.ports.agents ?? NO_AGENTS;
}

const NO_AGENTS: AgentSource = {
  assemble() {
    throw new Error('Treadle bug: an answer began a turn');
  },
  tools: () => new Map(),
};

function answerOf({ userId }: Caller, { request, decision, arguments: given, text, note, allow }: RunAnswer): Answer {
  return {
    request,
    decision,
    by: userId,
    ...(given !== undefined && { arguments: given }),
    ...(text !== undefined && { text }),
    ...(note !== undefined && { note }),
    ...(allow !== undefined && { allow }),
  };
}

/** What counts is what the log has: whoever answered first. */
async function receiptOf(ports: RunsPorts, row: ConversationRow, request: string, repeated: boolean): Promise<Receipt> {
  const { timeline } = await ports.folds.read(row);
  const asked = findRequest(timeline, request)?.asked;
  if (asked === undefined) throw new TreadleError('request_unknown', { place: row.id, found: request });
  checkOpen(asked);
  if (asked.answer === undefined) throw new TreadleError('request_unknown', { place: row.id, found: request });
  const { answer: said, answeredAt } = asked;
  return {
    request,
    run: row.id,
    decision: said.decision,
    ...(said.arguments !== undefined && { arguments: said.arguments }),
    ...(said.text !== undefined && { text: said.text }),
    ...(said.note !== undefined && { note: said.note }),
    ...(said.allow !== undefined && { allow: said.allow }),
    by: said.by,
    at: isoTime(answeredAt ?? asked.at),
    repeated,
  };
}

function checkOpen(asked: Asked): void {
  if (asked.cancelled === undefined) return;
  if (asked.cancelled === 'expired') throw expired(asked);
  throw new TreadleError('request_withdrawn', { place: asked.request, found: asked.cancelled });
}

function expired({ request, deadline }: Asked): TreadleError {
  return new TreadleError('request_expired', {
    place: request,
    ...(deadline !== undefined && { found: `a request that expired at ${isoTime(deadline)}` }),
    hint: 'no answer is a refusal, and the agent was told so',
  });
}

/** Answers the one approval that is open, as it was read: another one that came meanwhile is not touched. */
export async function answerOnly(
  ports: RunsPorts,
  caller: Caller,
  id: string,
  decision: 'allow' | 'reject',
  note?: string,
): Promise<Snapshot> {
  const row = await runOf(ports, caller, decision === 'allow' ? 'approve' : 'run', id);
  const { requests } = await stateNow(ports, row);
  const [only, second] = requests.filter((one) => one.kind !== 'input');
  if (only === undefined) throw new TreadleError('nothing_pending', { place: id });
  if (second !== undefined)
    throw new TreadleError('ambiguous_request', {
      place: id,
      found: requests.map((one) => one.id).join(', '),
      hint: 'answer them one by one, by id and digest',
    });
  const given = { request: only.id, run: only.run, digest: only.digest, decision, ...(note !== undefined && { note }) };
  const target = await targetOf(ports, row, given);
  const payload = draftOf(ports, caller, given, target);
  if (payload !== undefined)
    await post(ports, target.row, {
      type: 'hitl.responded',
      payload,
      key: only.id,
      turnId: target.fold.conversation.turn?.id,
    });
  return snapshotNow(ports, id);
}
