import { systemClock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { openRequests, type Conversation, type Turn } from '../../domain/conversation.ts';
import { statusOf } from '../../domain/run.ts';
import type { Platform } from '../../platform/platform.ts';
import { askRequests } from '../approval.ts';
import type { Context } from '../context.ts';
import { driveRun, parseDuration, type Driven } from '../drive-run.ts';
import { outcomeOf, type Outcome } from '../exit-codes.ts';
import { inputText } from '../input-text.ts';
import { linePerson } from '../line-person.ts';
import { findRun, openLog, openPlatform, shortId } from '../open.ts';
import { createProgress } from '../progress.ts';
import { prose } from '../prose.ts';
import { createPlainScreen } from '../screen.ts';
import { duration, harmless } from '../text.ts';
import { endInWords, TurnView } from '../turn-view.ts';
import { waitingLines } from '../waiting.ts';

export interface RunOptions {
  readonly agent?: string;
  readonly conversation?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly timeout?: string;
  readonly memory?: boolean;
  readonly data?: string;
  readonly onApproval?: 'ask' | 'wait' | 'deny';
  readonly debug?: boolean;
}

/** One message, one answer: the answer alone goes to stdout. */
export async function run(
  context: Context,
  bundle: string,
  words: readonly string[],
  options: RunOptions,
): Promise<Outcome> {
  const { terminal, environment } = context;
  const began = systemClock.now();
  const timeoutMs = options.timeout === undefined ? undefined : parseDuration(options.timeout, '--timeout');
  if (options.memory === true && options.conversation !== undefined) {
    throw new TreadleError('usage', {
      place: '--conversation',
      found: '--memory with it',
      wanted: 'one of the two: a log that is not kept has no earlier conversation',
    });
  }
  const { text, notice } = await inputText(words, terminal.input, timeoutMs);
  const { log } = await openLog({ memory: options.memory, data: options.data, environment });
  const platform = await openPlatform({ bundle, log, environment, debug: options.debug });
  try {
    const warn = (line: string): void =>
      void (options.quiet === true || terminal.err.write(`${terminal.errColors.yellow('!')} ${harmless(line)}\n`));
    if (notice !== undefined) warn(notice);
    for (const one of platform.notices) warn(`${one.place}: ${one.text}`);
    const { conversations } = platform;
    const id =
      options.conversation === undefined
        ? (await conversations.start(options.agent === undefined ? {} : { agent: options.agent })).id
        : await continued(platform, options);
    await conversations.say(id, { text });
    const driven = await driveVisibly(
      context,
      platform,
      id,
      options,
      timeoutMs === undefined ? undefined : Math.max(1, timeoutMs - (systemClock.now() - began)),
    );
    return tell(context, driven, options);
  } finally {
    await platform.close({ drainMs: 0 });
  }
}

async function continued(
  { conversations, bundle }: Platform,
  { conversation = '', agent }: RunOptions,
): Promise<string> {
  const row = await findRun(
    { find: (id) => conversations.find(id).catch(() => undefined), list: (query) => conversations.list(query) },
    conversation,
  );
  if (agent !== undefined && bundle.agentNamed(agent) !== row.agent) {
    throw new TreadleError('usage', {
      place: '--agent',
      found: agent,
      wanted: `${row.agent}, whose conversation it is`,
      hint: 'leave --agent out',
    });
  }
  return row.id;
}

/** Shows on stderr what goes on, where a person watches it; does about approvals what was asked for. */
export async function driveVisibly(
  { terminal }: Context,
  platform: Platform,
  id: string,
  options: Pick<RunOptions, 'quiet' | 'onApproval' | 'memory'>,
  timeoutMs?: number,
): Promise<Driven> {
  const isWatched = terminal.showsProgress && options.quiet !== true;
  const policy = approvalPolicy(terminal.interactive && terminal.err.isTTY, options);
  const screen = createPlainScreen(terminal.err);
  const progress = createProgress((line) =>
    terminal.err.write(line === undefined ? '\r\x1b[K' : `\r\x1b[K${terminal.errColors.dim(line)}`),
  );
  const view = new TurnView({
    screen: { ...screen, lines: (...lines) => (progress.stop(), screen.lines(...lines)) },
    colors: terminal.errColors,
    columns: terminal.columns,
    showsAnswer: false,
    onPhase: (phase) => progress.phase(phase),
  });
  const off = isWatched
    ? platform.bus.on('*', (event) => (event.conversationId === id ? view.hear(event) : undefined))
    : undefined;
  try {
    return await driveRun(platform, id, {
      timeoutMs,
      onWaiting: async (conversation) => {
        if (isWatched) progress.stop();
        switch (policy) {
          case 'ask':
            return askRequests(conversation, linePerson(terminal), platform.conversations, 'local');
          case 'deny':
            return denyRequests(platform, conversation);
          case 'wait':
            return false;
        }
      },
    });
  } finally {
    off?.();
    if (isWatched) progress.stop();
  }
}

/** Nobody at hand: the run is left waiting, unless the log is not kept, so that nobody could ever answer. */
function approvalPolicy(
  isPersonThere: boolean,
  { onApproval, memory }: Pick<RunOptions, 'onApproval' | 'memory'>,
): 'ask' | 'wait' | 'deny' {
  if (onApproval === 'ask' && !isPersonThere) {
    throw new TreadleError('usage', {
      place: '--on-approval',
      found: 'ask, and no terminal to ask at',
      wanted: 'wait or deny',
    });
  }
  return onApproval ?? (isPersonThere ? 'ask' : memory === true ? 'deny' : 'wait');
}

async function denyRequests({ conversations }: Platform, { id, turn }: Conversation): Promise<boolean> {
  for (const { request } of turn === undefined ? [] : openRequests(turn)) {
    await conversations.answer(id, { request, decision: 'reject', note: 'Nobody is there to ask.', by: 'operator' });
  }
  return true;
}

/** Prints how a run came out, for people or for programs, and says the same as an exit code. */
export function tell(
  { terminal }: Context,
  { conversation, cut }: Driven,
  options: Pick<RunOptions, 'json' | 'quiet' | 'data' | 'timeout' | 'memory'>,
): Outcome {
  const outcome = cut ?? outcomeOf(conversation);
  const turn = conversation.turn ?? conversation.turns.at(-1);
  const answer = conversation.turn === undefined ? turn?.output : undefined;
  const error = outcome === 'completed' ? undefined : (cutInWords(cut, options.timeout) ?? turn?.end?.error?.message);
  if (options.json === true) {
    terminal.out.write(`${JSON.stringify(summary(conversation, turn, outcome, { answer, error }))}\n`);
  } else if (outcome === 'completed' && answer !== undefined) {
    const shown = terminal.out.isTTY
      ? prose(answer, { columns: terminal.columns(), indent: '', colors: terminal.colors })
      : answer;
    terminal.out.write(shown.endsWith('\n') ? shown : `${shown}\n`);
  }
  if (outcome === 'completed' || options.quiet === true) return outcome;
  const { errColors: colors, columns } = terminal;
  const lines =
    outcome === 'waiting'
      ? waitingLines(conversation, { data: options.data, colors, columns })
      : troubleLines(conversation, turn, cut, error, options);
  terminal.err.write(lines.map((line) => `${line}\n`).join(''));
  return outcome;
}

function summary(
  conversation: Conversation,
  turn: Turn | undefined,
  outcome: Outcome,
  { answer, error }: { readonly answer: string | undefined; readonly error: string | undefined },
): object {
  return {
    status: statusOf(conversation),
    iterations: turn?.calls ?? 0,
    toolCalls: turn?.toolCalls ?? 0,
    ...(outcome === 'completed' ? { answer: answer ?? '' } : error === undefined ? {} : { error }),
    usage: turn?.usage ?? {},
    runId: conversation.id,
  };
}

function cutInWords(cut: Driven['cut'], timeout: string | undefined): string | undefined {
  switch (cut) {
    case 'timeout':
      return `no answer within ${timeout ?? duration(0)}`;
    case 'interrupted':
      return 'stopped with Ctrl-C';
    case 'terminated':
    case 'hangup':
      return 'this process was ended';
    case undefined:
      return undefined;
  }
}

function troubleLines(
  conversation: Conversation,
  turn: Turn | undefined,
  cut: Driven['cut'],
  error: string | undefined,
  { memory }: Pick<RunOptions, 'memory'>,
): string[] {
  const said = cut === undefined && turn?.end !== undefined ? endInWords(turn.end, 'command') : undefined;
  const why = said ?? `The run has no answer: ${error ?? 'nobody said why'}.`;
  if (memory === true) return [`✗ ${harmless(why)}`];
  const id = shortId(conversation.id);
  const resumable = conversation.turn !== undefined || turn?.end?.status === 'stopped';
  return [
    `✗ ${harmless(why)}`,
    resumable ? `  Go on with: treadle resume ${id}` : `  What happened: treadle show ${id}`,
  ];
}
