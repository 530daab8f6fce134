import type { Entry, EntryOf } from '../domain/entry.ts';
import { inputTokens, outputTokens } from '../domain/usage-sum.ts';
import { counted, duration, UNBROKEN } from './text.ts';

/** Calls, actions, tokens and time of a turn. Each figure keeps its unit beside it when the line is wrapped. */
export function endLine({ turn, data }: EntryOf<'end'>, entries: readonly Entry[]): string {
  const { iterations, toolCalls, usage, ms } = data;
  const others = entries.filter(
    (one) => one.role === 'action' && one.turn === turn && one.data.observation?.outcome !== 'ok',
  ).length;
  const read = inputTokens(usage);
  const written = outputTokens(usage);
  const cached =
    usage.cacheRead === undefined || usage.cacheRead === 0
      ? ''
      : ` (${usage.cacheRead.toLocaleString('en-US')} cached)`;
  const tokens =
    read + written === 0
      ? []
      : [`${read.toLocaleString('en-US')} tokens in${cached}, ${written.toLocaleString('en-US')} out`];
  const asked = toolCalls + others;
  const actions = asked === 0 ? [] : [counted(asked, 'action') + (others === 0 ? '' : `, ${others} without success`)];
  return [counted(iterations, 'model call'), ...actions, ...tokens, duration(ms)]
    .map((one) => one.replaceAll(' ', UNBROKEN))
    .join(' · ');
}

/** What a person has to know of an end that is not an answer, and what to do about it. */
export function endInWords(
  { status, stop, error }: Pick<EntryOf<'end'>['data'], 'status' | 'stop' | 'error'>,
  place: 'chat' | 'command',
): string | undefined {
  const why = error === undefined ? '' : ` ${sentence(error.message)}`;
  switch (status) {
    case 'completed':
      return undefined;
    case 'stopped':
      return place === 'chat' ? 'Stopped. /resume goes on from here, or say something else.' : 'The run was stopped.';
    case 'plan_rejected':
      return 'The plan was rejected, so nothing was done.';
    case 'max_iterations_reached':
      return `No answer yet:${why || ' the limit of model calls is reached.'} ${place === 'chat' ? 'Say “go on” for another turn, or raise' : 'Raise'} max_iterations in the bundle.`;
    case 'error':
      if (stop === 'gate') return `A gate refused.${why}`;
      return `This went wrong:${why || ' nobody said why.'} ${remedy(error?.code ?? '', place)}`.trimEnd();
  }
}

function remedy(code: string, place: 'chat' | 'command'): string {
  const again = place === 'chat' ? 'say it again' : 'run it again';
  switch (code) {
    case 'model_auth':
      return 'Check the API key.';
    case 'model_network':
    case 'model_timeout':
      return `Check that the model server can be reached, then ${again}.`;
    case 'model_rate_limit':
    case 'model_overloaded':
    case 'model_server':
      return `Wait a little, then ${again}.`;
    case 'model_not_found':
      return 'Check the name of the model in the bundle.';
    case 'model_context_length':
      return 'Begin a new conversation, or give the model less to read.';
    default:
      return '';
  }
}

function sentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
