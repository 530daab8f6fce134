import { digest } from '../../base/digest.ts';
import { TreadleError } from '../../base/errors.ts';
import { asName } from '../../base/text.ts';
import { toJson } from '../../base/json.ts';
import { isResumable, type Conversation } from '../../domain/conversation.ts';
import { fold } from '../../domain/fold.ts';
import type { Fact, FactPayload } from '../../domain/event.ts';
import { entriesOf } from '../../domain/timeline.ts';
import { statusOf, titleOf } from '../../domain/run.ts';
import type { ConversationMeta, ConversationRow, Log } from '../../kernel/log.ts';
import { checkedMessage, type Message } from '../messages.ts';
import { addOnce, runIdOf } from './begin.ts';
import type { Caller } from './caller.ts';
import { bundleOf, post, runOf, snapshotNow, type RunsPorts } from './ports.ts';
import type { ForkRun, ResumeRun, Runs } from './runs.ts';
import type { Snapshot } from './snapshot.ts';
import { belowOf } from './state.ts';

/** Asks the run and all below it to stop. What has ended, or was asked already, is left as it is. */
export async function stop(ports: RunsPorts, caller: Caller, id: string): Promise<Snapshot> {
  const row = await runOf(ports, caller, 'run', id);
  for (const one of [row, ...(await belowOf(ports.log, row))]) await stopOne(ports, caller, one);
  return snapshotNow(ports, id);
}

async function stopOne(ports: RunsPorts, { userId }: Caller, row: ConversationRow): Promise<void> {
  const { conversation } = await ports.folds.read(row);
  const { turn, inbox, cancelNext } = conversation;
  const isRunning = turn === undefined ? inbox.length > 0 && !cancelNext : turn.cancel === 'none';
  if (isRunning) await post(ports, row, { type: 'cancel.request', payload: { by: userId }, turnId: turn?.id });
}

export async function resume(ports: RunsPorts, caller: Caller, id: string, { limits }: ResumeRun): Promise<Snapshot> {
  const row = await runOf(ports, caller, 'run', id);
  const { turn, turns } = (await ports.folds.read(row)).conversation;
  const last = turn ?? turns.at(-1);
  const canGoOn = turn === undefined ? last !== undefined && isResumable(last) : turn.cancel !== 'none';
  if (!canGoOn) throw new TreadleError('nothing_to_resume', { place: id });
  const by = caller.userId;
  if (limits !== undefined) await post(ports, row, { type: 'limits.changed', payload: { limits, by } });
  await post(ports, row, { type: 'cancel.resume', payload: { by }, turnId: last?.id });
  return snapshotNow(ports, id);
}

const FORK_LEASE_MS = 5_000;

/**
 * A new run whose log begins as a copy.
 *
 * Nothing in flight is copied: a cut in the middle of a turn is followed by a stop, so that every open action gets its
 * observation and nothing that the first run does is done again. At a message that begins a turn, the copy ends before it
 * and the message is said again, or other words in its place: the fork answers them anew.
 */
export async function fork(ports: RunsPorts, caller: Caller, id: string, options: ForkRun): ReturnType<Runs['fork']> {
  const row = await runOf(ports, caller, 'run', id);
  const { at, content, metadata, key } = options;
  const { timeline } = await ports.folds.read(row);
  const entry = at === undefined ? undefined : entriesOf(timeline).find((one) => one.id === at);
  if (at !== undefined && entry === undefined)
    throw new TreadleError('invalid_request', { place: 'at', found: at, wanted: 'the id of an entry of this run' });
  const said = entry?.role === 'user' ? await factAt(ports.log, id, entry.since) : undefined;
  const isOpening = said?.type === 'io.input' && !(await isMidTurn(ports.log, row, entry?.since ?? 0));
  if (content !== undefined && !isOpening)
    throw new TreadleError('invalid_request', {
      place: 'content',
      found: at === undefined ? 'no `at`' : `${at}, which begins no turn`,
      wanted: '`at` to be a message that begins a turn',
    });
  const cut = isOpening ? said.seq - 1 : (entry?.revision ?? timeline.head);
  const words =
    content === undefined || said?.type !== 'io.input'
      ? undefined
      : await checkedMessage(saying(said.payload, content), bundleOf(ports, row).bus, () =>
          conversationAt(ports.log, row, cut),
        );
  const meta: ConversationMeta = {
    id: key === undefined ? ports.ids.next('run') : runIdOf(caller, 'fork', key),
    agent: row.agent,
    bundle: row.bundle,
    userId: caller.userId,
    tenant: caller.tenant,
    agentPath: row.agent,
    createdAt: ports.clock.now(),
    ...(metadata !== undefined && { metadata }),
    ...(row.limits !== undefined && { limits: row.limits }),
  };
  const asked = digest(toJson({ from: id, at, content, metadata }));
  const fresh = await addOnce(ports, meta, asked, async (one) => ports.log.fork(one, id, cut));
  // What the copy tells was paid for by the first run. Nothing drives the fork before this is known.
  await ports.ledger?.skip(meta.id, cut);
  const made = await runOf(ports, caller, 'run', meta.id);
  const { conversation } = await ports.folds.read(made);
  // With other first words it is named after them, like any conversation.
  const isAnew = words !== undefined && conversation.turns.length === 0;
  const title = isAnew ? titleOf(words.text) : forkTitle(row.title);
  if (fresh && row.title !== '') await ports.log.rename(meta.id, title); // before anybody drives it
  const once = `treadle.fork:${meta.id}`; // a copy of a copy has the other one's key
  if (isOpening) await post(ports, made, { type: 'io.input', payload: words ?? said.payload, key: once });
  else if (conversation.turn !== undefined)
    await post(ports, made, {
      type: 'cancel.request',
      payload: { by: caller.userId },
      turnId: conversation.turn.id,
      key: once,
    });
  else if (fresh) await nameStatus(ports, made);
  return { run: await snapshotNow(ports, meta.id), fresh };
}

/** The same message in other words: what came with it stays. */
function saying({ attachments, mode, userId }: FactPayload<'io.input'>, text: string): Message {
  return {
    text,
    mode,
    ...(attachments !== undefined && { attachments }),
    ...(userId !== undefined && { userId }),
  };
}

const LONGEST_TITLE = 200;
const FORKED = ' (fork)';

/** Lists tell the two apart. */
function forkTitle(title: string): string {
  return `${title.slice(0, LONGEST_TITLE - FORKED.length).toWellFormed()}${FORKED}`;
}

async function factAt(log: Log, id: string, seq: number): Promise<Fact | undefined> {
  return (await log.read(id, seq - 1, 1))[0];
}

/** Whether a turn was open just before this fact. */
async function isMidTurn(log: Log, row: ConversationRow, seq: number): Promise<boolean> {
  return (await conversationAt(log, row, seq - 1)).turn !== undefined;
}

async function conversationAt(log: Log, { id, agentPath }: ConversationRow, seq: number): Promise<Conversation> {
  return fold(id, agentPath, await log.read(id, 0, seq));
}

/** A copy that rests says so in lists, too. */
async function nameStatus({ log, folds, ids }: RunsPorts, row: ConversationRow): Promise<void> {
  const { conversation } = await folds.read(row);
  const lease = await log.take(row.id, ids.next('fork'), FORK_LEASE_MS);
  if (lease === undefined) return; // somebody drives it already, and will say
  await log.append(lease, conversation.head, [], { status: statusOf(conversation) });
  await log.release(lease);
}

export async function rename(ports: RunsPorts, caller: Caller, id: string, title: string): Promise<Snapshot> {
  await runOf(ports, caller, 'run', id);
  const line = asName(title);
  if (line === '' || line.length > LONGEST_TITLE)
    throw new TreadleError('invalid_request', {
      place: 'title',
      found: `${line.length} characters`,
      wanted: `1 to ${LONGEST_TITLE}`,
    });
  await ports.log.rename(id, line);
  return snapshotNow(ports, id);
}

export async function archive(ports: RunsPorts, caller: Caller, id: string, archived: boolean): Promise<Snapshot> {
  await runOf(ports, caller, 'run', id);
  await ports.log.archive(id, archived);
  return snapshotNow(ports, id);
}

export async function remove(ports: RunsPorts, caller: Caller, id: string): Promise<void> {
  const row = await runOf(ports, caller, 'run', id);
  await removeTree(ports.log, row);
}

/** Those below first: a run without the one above it would be nobody's. Throws `run_active`. */
export async function removeTree(log: Log, row: ConversationRow): Promise<void> {
  const below = await belowOf(log, row);
  for (const one of [...below.toReversed(), row]) {
    try {
      await log.remove(one.id);
    } catch (error) {
      if (!TreadleError.is(error) || error.code !== 'conversation_busy') throw error;
      throw new TreadleError('run_active', { place: one.id, hint: 'stop it first, then remove it' });
    }
  }
}
