import { existsSync } from 'node:fs';
import path from 'node:path';
import { commandName } from '../command-name.ts';
import { TreadleError } from '../../base/errors.ts';
import { parseJson } from '../../base/json.ts';
import { isResumable, openRequests, type Conversation } from '../../domain/conversation.ts';
import type { ConversationRow } from '../../kernel/log.ts';
import type { Answer, Conversations } from '../../platform/conversations.ts';
import { chosen, isNoChoice } from '../approval.ts';
import type { Context } from '../context.ts';
import { parseDuration } from '../drive-run.ts';
import type { Outcome } from '../exit-codes.ts';
import { changedLimits, type LimitOptions } from '../limit-options.ts';
import { findRun, openLog, openPlatform, shortId } from '../open.ts';
import { tell } from '../tell-run.ts';
import { approvalPolicy, watchRun } from '../watch-run.ts';
import type { RunOptions } from './run.ts';

export interface ResumeOptions
  extends LimitOptions, Pick<RunOptions, 'json' | 'quiet' | 'timeout' | 'data' | 'onApproval' | 'debug'> {
  readonly bundle?: string;
  readonly text?: string;
  /** Requests; empty where the option stands alone. */
  readonly allow?: readonly string[];
  readonly reject?: readonly string[];
  readonly note?: string;
  /** Words as they were given: a request and JSON, or JSON alone. */
  readonly edit?: readonly string[];
  readonly reply?: readonly string[];
}

/** Goes on with a run: after a crash, after it was stopped, with answers to what it waits for, or with a new message. */
export async function resume(context: Context, named: string, options: ResumeOptions): Promise<Outcome> {
  const timeoutMs = options.timeout === undefined ? undefined : parseDuration(options.timeout, '--timeout');
  const policy = approvalPolicy(context, options);
  const { log, file } = await openLog({ data: options.data, environment: context.environment });
  let row;
  let bundle;
  try {
    row = await findRun(log, named);
    bundle = options.bundle ?? fileOf(row);
  } catch (error) {
    await log.close();
    throw error;
  }
  const platform = await openPlatform({
    bundle,
    log,
    file,
    environment: context.environment,
    debug: options.debug,
  });
  try {
    const { conversations } = platform;
    const conversation = await conversations.read(row.id);
    // Where only one run below it asks, an answer is meant for that one.
    const [only, ...others] = await conversations.asking(row.id);
    const asked = only !== undefined && others.length === 0 ? only : conversation;
    const limits = changedLimits(conversation.limits, options);
    const answers = answersOf(asked, options);
    if (limits !== undefined) await conversations.limit(row.id, limits, 'local');
    for (const answer of answers) await conversations.answer(asked.id, answer);
    await goOn(conversations, conversation, answers.length > 0, options.text);
    const driven = await watchRun(context, platform, row.id, {
      policy,
      quiet: options.quiet,
      timeoutMs,
      patienceMs: Infinity, // a killed process lets go with its lease, any other one with the answer
      // Somebody who resumes wants it to go on, also where the one who stopped it left before it had stopped.
      goesOnAfterStop: conversation.cancelNext || (conversation.turn?.cancel ?? 'none') !== 'none',
    });
    return tell(context, driven, options);
  } finally {
    await platform.close({ drainMs: 0 });
  }
}

/** A run of the command line names its bundle's file; one that a server began names the bundle by its id. */
function fileOf({ id, bundle }: ConversationRow): string {
  if (path.isAbsolute(bundle) || existsSync(bundle)) return bundle;
  throw new TreadleError('usage', {
    place: '--bundle',
    found: `nothing, and a run that a server began with ${bundle}`,
    wanted: 'the file of that bundle',
    hint: `say \`${commandName()} resume ${shortId(id)} --bundle FILE\``,
  });
}

/** What makes the run move. Throws where it has come to its end and nothing new was said. */
async function goOn(
  conversations: Conversations,
  { id, turn, turns, inbox }: Conversation,
  isAnswered: boolean,
  text: string | undefined,
): Promise<void> {
  if (text !== undefined) {
    // Said to a run that waits, a message takes the place of the answer.
    await conversations.say(id, { text, mode: turn === undefined ? 'message' : isAnswered ? 'followup' : 'steer' });
    return;
  }
  if (turn !== undefined || inbox.length > 0) return;
  const last = turns.at(-1);
  const end = last?.end;
  if (last !== undefined && isResumable(last)) return conversations.resume(id, 'local');
  throw new TreadleError('usage', {
    place: shortId(id),
    found: end === undefined ? 'a run in which nothing was said' : `a run that has ended: ${end.status}`,
    wanted: 'one that waits, was stopped, was cut short, or that a limit ended',
    hint: `say something with --text, or read it with \`${commandName()} show ${shortId(id)}\``,
  });
}

function answersOf(
  conversation: Conversation,
  { allow = [], reject = [], note, edit, reply }: ResumeOptions,
): Answer[] {
  const by = 'local';
  const only = (given: string | undefined, option: string): string => {
    if (given !== undefined && given !== '') return given;
    const open = conversation.turn === undefined ? [] : openRequests(conversation.turn);
    const [first, second] = open;
    if (first !== undefined && second === undefined) return first.request;
    throw new TreadleError('usage', {
      place: option,
      found: open.length === 0 ? 'a run that waits for nobody' : 'no request, and several are open',
      wanted: open.length === 0 ? undefined : open.map((one) => one.request).join(' or '),
      hint: open.length === 0 ? `see \`${commandName()} show ${shortId(conversation.id)}\`` : undefined,
    });
  };
  if (note !== undefined && reject.length === 0) {
    throw new TreadleError('usage', {
      place: '--note',
      found: 'a note without --reject',
      hint: 'a note is the reason for a no',
    });
  }
  const answers: Answer[] = [];
  for (const one of allow) answers.push({ request: only(one, '--allow'), decision: 'allow', by });
  for (const one of reject)
    answers.push({ request: only(one, '--reject'), decision: 'reject', by, ...(note !== undefined && { note }) });
  if (edit !== undefined) {
    const [request, json] = pair(edit, '--edit');
    answers.push({ request: only(request, '--edit'), decision: 'edit', arguments: parseJson(json, '--edit'), by });
  }
  if (reply !== undefined) {
    const [named, words] = pair(reply, '--reply');
    const request = only(named, '--reply');
    const choices = conversation.turn?.requests.find((one) => one.request === request)?.choices ?? [];
    if (isNoChoice(words, choices)) {
      throw new TreadleError('usage', {
        place: '--reply',
        found: words,
        wanted: `a number from 1 to ${choices.length}, or words`,
      });
    }
    answers.push({ request, decision: 'reply', text: chosen(words, choices), by });
  }
  checkOnce(answers);
  return answers;
}

/** Checked before the first of them is written: the log takes one answer to a request, and keeps it. */
function checkOnce(answers: readonly Answer[]): void {
  for (const [index, { request, decision }] of answers.entries()) {
    const before = answers.slice(0, index).find((one) => one.request === request);
    if (before === undefined) continue;
    throw new TreadleError('usage', {
      place: request,
      found: before.decision === decision ? `--${decision} twice` : `--${before.decision} and --${decision}`,
      wanted: 'one answer to a request',
      hint: 'nothing was answered; say it again with one of them',
    });
  }
}

/** A request and what belongs to it; the request may be left out. */
function pair(words: readonly string[], option: string): readonly [string | undefined, string] {
  const [first, second] = words;
  if (first === undefined || words.length > 2) {
    throw new TreadleError('usage', {
      place: option,
      found: `${words.length} words`,
      wanted: 'a request and one more word',
      hint: 'put quotes around what has spaces',
    });
  }
  return second === undefined ? [undefined, first] : [first, second];
}
