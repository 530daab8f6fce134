import { openRequests } from '../../domain/conversation.ts';
import type { Platform } from '../../platform/platform.ts';
import { chosen } from '../approval.ts';
import { readTyped } from '../chat-commands.ts';
import type { Context } from '../context.ts';
import { driveRun } from '../drive-run.ts';
import { denyApprovals } from '../watch-run.ts';
import type { Outcome } from '../exit-codes.ts';
import { FIRST_BUNDLE, findRun, openLog, openPlatform } from '../open.ts';
import { tell } from '../tell-run.ts';

export interface ChatOptions {
  readonly agent?: string;
  readonly conversation?: string;
  readonly memory?: boolean;
  readonly data?: string;
  readonly debug?: boolean;
}

/** A conversation: in the terminal for a person, line by line for a pipe. */
export async function chat(context: Context, bundle: string | undefined, options: ChatOptions): Promise<Outcome> {
  const { terminal, environment } = context;
  const { log, file, place } = await openLog({ memory: options.memory, data: options.data, environment });
  let id: string | undefined;
  let from = bundle;
  try {
    if (options.conversation !== undefined) {
      const row = await findRun(log, options.conversation);
      id = row.id;
      from ??= row.bundle;
    }
  } catch (error) {
    await log.close();
    throw error;
  }
  const platform = await openPlatform({ bundle: from ?? FIRST_BUNDLE, log, file, environment, debug: options.debug });
  try {
    const agent =
      id === undefined ? platform.bundle.agentNamed(options.agent) : (await platform.conversations.find(id)).agent;
    if (!terminal.interactive)
      return await chatByLines(context, platform, {
        id,
        agent,
        memory: options.memory === true,
        ...(options.data !== undefined && { data: options.data }),
      });
    const { chatInTerminal } = await import('../chat-session.ts');
    const memory = options.memory === true;
    return await chatInTerminal({ platform, terminal, file: place, agent, id, memory });
  } finally {
    await platform.close({ drainMs: 3_000 });
  }
}

interface ByLines {
  readonly id: string | undefined;
  readonly agent: string;
  readonly data?: string;
  readonly memory: boolean;
}

/** Each line is a message, each answer goes to stdout. Ends with the last line, as the last run did. */
async function chatByLines(
  context: Context,
  platform: Platform,
  { id: known, agent, data, memory }: ByLines,
): Promise<Outcome> {
  const { conversations } = platform;
  const { input } = context.terminal;
  let id = known;
  let outcome: Outcome = 'completed';
  let unread = 0;
  let isOver = false;
  for await (const line of linesOf(input)) {
    const typed = readTyped(line);
    if (typed.type === 'nothing') continue;
    if (typed.type === 'command' && typed.name === '/quit') break;
    if (isOver) {
      unread++;
      continue;
    }
    id ??= (await conversations.start({ agent })).id;
    // A question takes the next line for its answer. An approval does not: what a pipe says is nobody's consent.
    const { turn } = await conversations.read(id);
    const question = turn === undefined ? undefined : openRequests(turn)[0];
    if (question === undefined) await conversations.say(id, { text: line });
    else
      await conversations.answer(id, {
        request: question.request,
        decision: 'reply',
        text: chosen(line.trim(), question.choices ?? []),
        by: 'local',
      });
    const driven = await driveRun(platform, id, {
      // Of a log that is not kept nobody could ever answer.
      onWaiting: async (conversation) => memory && denyApprovals(platform, conversation),
    });
    outcome = tell(context, driven, { memory, ...(data !== undefined && { data }) });
    if (driven.cut !== undefined) break;
    const asked = driven.conversation.turn === undefined ? [] : openRequests(driven.conversation.turn);
    if (asked.some((one) => one.kind !== 'input')) isOver = true;
  }
  if (unread > 0) {
    const lines = unread === 1 ? 'One more line was' : `${unread} more lines were`;
    context.terminal.err.write(`${lines} not said: the run waits for a person.\n`);
  }
  input.pause();
  return outcome;
}

async function* linesOf(input: NodeJS.ReadStream): AsyncGenerator<string> {
  const { createInterface } = await import('node:readline');
  yield* createInterface({ input, terminal: false, crlfDelay: Infinity });
}
