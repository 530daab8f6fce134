import { commandName } from './command-name.ts';
import type { Conversation, Turn } from '../domain/conversation.ts';
import { statusOf } from '../domain/run.ts';
import type { Context } from './context.ts';
import type { Driven } from './drive-run.ts';
import { outcomeOf, type Outcome } from './exit-codes.ts';
import { shortId } from './open.ts';
import { prose } from './prose.ts';
import { harmless } from './text.ts';
import { LIMIT_OPTIONS } from './limit-options.ts';
import { endInWords } from './turn-end.ts';
import { waitingLines } from './waiting.ts';

export interface TellOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly data?: string;
  readonly timeout?: string;
  readonly memory?: boolean;
}

/** Prints how a run came out, for people or for programs, and says the same as an exit code. */
export function tell(
  { terminal }: Context,
  { conversation, asking, cut, isElsewhere }: Driven,
  options: TellOptions,
): Outcome {
  const outcome = cut ?? outcomeOf(conversation);
  const turn = conversation.turn ?? conversation.turns.at(-1);
  const answer = conversation.turn === undefined ? turn?.output : undefined;
  const error =
    outcome === 'completed'
      ? undefined
      : ((isElsewhere === true ? ELSEWHERE : cutInWords(cut, options.timeout)) ?? turn?.end?.error?.message);
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
      ? waitingLines(conversation, asking ?? [conversation], {
          data: options.data,
          memory: options.memory,
          colors,
          columns,
        })
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

const ELSEWHERE = 'another process has the run and goes on with it; nothing was changed';

/** The option that raises the limit which has ended the turn, where it is one of the run's own. */
function raising({ limits }: Conversation, turn: Turn | undefined): string | undefined {
  if (turn?.end?.stop !== 'limit') return undefined;
  const { code } = turn.end.error ?? {};
  const own = LIMIT_OPTIONS.find((one) => one.code === code && limits[one.key] !== undefined);
  if (own === undefined) return undefined;
  // Where the agent allows no more, the run cannot either.
  if (own.key === 'maxIterations' && turn.agent.limits.maxIterations <= (limits.maxIterations ?? 0)) return undefined;
  return `${own.option} ${own.example}`;
}

function cutInWords(cut: Driven['cut'], timeout: string | undefined): string | undefined {
  switch (cut) {
    case 'timeout':
      return `no answer within ${timeout ?? 'the time given'}`;
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
  { memory }: TellOptions,
): string[] {
  const said = cut === undefined && turn?.end !== undefined ? endInWords(turn.end, 'command') : undefined;
  const why = said ?? `The run has no answer: ${error ?? 'nobody said why'}.`;
  if (memory === true) return [`✗ ${harmless(why)}`];
  const id = shortId(conversation.id);
  const resumable = conversation.turn !== undefined || turn?.end?.status === 'stopped';
  const raise = raising(conversation, turn);
  return [
    `✗ ${harmless(why)}`,
    resumable || raise !== undefined
      ? `  Go on with: ${commandName()} resume ${id}${raise === undefined ? '' : ` ${raise}`}`
      : `  What happened: ${commandName()} show ${id}`,
  ];
}
