import type { TreadleError } from '../base/errors.ts';
import type { ClientError } from '../client/client-error.ts';
import type { Conversation } from '../domain/conversation.ts';
import { statusOf } from '../domain/run.ts';
import { statusKind, type EndStatus, type StopKind } from '../domain/status.ts';

/** Every way a command can end. The numbers are for scripts: they never change their meaning. Help is made from this. */
export const EXIT_CODES = {
  completed: { code: 0, about: 'done; a run has its answer' },
  error: { code: 1, about: 'the run ended with an error: its model, a tool or a protocol failed' },
  usage: { code: 2, about: 'the command line, the bundle or a name in them is wrong; nothing was run' },
  limit: { code: 3, about: 'the run reached a limit, such as its number of model calls' },
  denied: { code: 4, about: 'a gate or a person refused: the message, a call, the plan or the answer' },
  waiting: { code: 5, about: 'the run waits for a person or for work outside; `treadle resume` goes on' },
  stopped: { code: 6, about: 'somebody else stopped the run; `treadle resume` goes on' },
  different: {
    code: 7,
    about: 'a replay asked for something else, or a case of a suite did not hold',
  },
  unreachable: { code: 69, about: 'the server cannot be reached, or cannot answer just now; try again later' },
  bug: { code: 70, about: 'a fault of Treadle itself' },
  log: { code: 74, about: 'the log cannot be read or written, or the output cannot be written' },
  busy: { code: 75, about: 'another process has the run or the log; try again later' },
  timeout: { code: 124, about: 'the time given with --timeout was over' },
  hangup: { code: 129, about: 'the terminal went away; the run can be resumed' },
  interrupted: { code: 130, about: 'stopped with Ctrl-C' },
  terminated: { code: 143, about: 'ended by SIGTERM; the run can be resumed' },
} as const satisfies Record<string, { readonly code: number; readonly about: string }>;

export type Outcome = keyof typeof EXIT_CODES;

/** The table of the exit codes, for help. */
export function exitCodeTable(): string {
  return Object.values(EXIT_CODES)
    .map(({ code, about }) => `  ${String(code).padStart(3)}  ${about}`)
    .join('\n');
}

/** How a run came out that has nothing left to do by itself. */
export function outcomeOf(conversation: Conversation): Outcome {
  const status = statusOf(conversation);
  const kind = statusKind(status);
  if (kind === 'waiting_for_person' || kind === 'waiting_for_work') return 'waiting';
  const end = conversation.turn === undefined ? conversation.turns.at(-1)?.end : undefined;
  return end === undefined ? 'error' : endOutcome(end);
}

export function endOutcome({ status, stop }: { readonly status: EndStatus; readonly stop: StopKind }): Outcome {
  if (status === 'completed') return 'completed';
  if (status === 'stopped') return 'stopped';
  if (status === 'plan_rejected' || stop === 'gate' || stop === 'rejected') return 'denied';
  return stop === 'limit' ? 'limit' : 'error';
}

/** How a command ends that a server refused, or could not be asked. */
export function clientOutcome({ code, status }: ClientError): Outcome {
  if (code === 'run_awaiting_input') return 'waiting';
  if (code === 'run_timeout') return 'timeout';
  if (code === 'input_refused') return 'denied';
  if (code === 'invalid_option' || code === 'redirect_refused') return 'usage';
  return status === 0 || status === 429 || status >= 500 ? 'unreachable' : 'usage';
}

/** How a command ends that threw a mistake of its caller, or of the world around it. */
export function errorOutcome({ code }: TreadleError): Outcome {
  switch (code) {
    case 'timeout':
      return 'timeout';
    case 'log_locked':
    case 'conversation_busy':
      return 'busy';
    case 'log_corrupt':
    case 'log_full':
    case 'log_unavailable':
    case 'log_version':
    case 'log_fenced':
      return 'log';
    case 'model_unreachable':
      return 'error';
    case 'input_refused':
      return 'denied';
    default:
      return 'usage';
  }
}
