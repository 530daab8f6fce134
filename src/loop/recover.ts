import { waitFor, type ActionState, type HeldRequest, type Turn, type Wait } from '../domain/conversation.ts';
import type { Observation } from '../domain/tool.ts';
import type { Tool } from '../kernel/running-tool.ts';
import { observed, type Ready, type Settled } from './prepared.ts';

/** The action's intent is on record and its result is not: a crash, or a question that was answered since. */
export function recover(turn: Turn, state: ActionState, tool: Tool, request: HeldRequest | undefined): Ready | Settled {
  const { begun } = state;
  const args = begun?.arguments ?? state.action.arguments;
  const ready: Ready = {
    type: 'ready',
    state,
    tool,
    args,
    argumentHash: begun?.argumentHash ?? '',
    revisedBy: begun?.revisedBy,
    timeoutMs: begun?.timeoutMs,
    verdicts: [],
    begun: true,
    reply: undefined,
    probe: false,
  };
  const wait = waitFor(turn, state.action.id);
  if (wait?.ended !== undefined) return { ...ready, delivered: deliveredBy(wait) };
  if (request?.kind === 'input' && request.answer !== undefined)
    return { ...ready, reply: request.answer.text ?? request.answer.note ?? '' };
  if (begun?.effect !== 'once' || (begun.replays === true && tool.replays === true)) return ready;
  if (tool.probe !== undefined) return { ...ready, probe: true };
  return observed(
    turn,
    state,
    'unknown',
    'interrupted',
    'The program stopped, or lost its hold on this run, while this action ran. It may or may not have happened; it was not run again. Check before you repeat it.',
  );
}

/** What was waited for, as the action's observation. */
function deliveredBy(wait: Wait): Observation {
  if (wait.kind === 'subagent') {
    const { status = 'error', answer, error } = wait.ended ?? {};
    if (status === 'completed') return { outcome: 'ok', value: { run: wait.conversation, answer: answer ?? '' } };
    const why = `${wait.agent} did not finish (${status})${error === undefined ? '' : `: ${error.message}`}`;
    const said = answer === undefined ? {} : { content: [{ type: 'text' as const, text: answer }] };
    return { outcome: 'failed', ...said, error: { code: error?.code ?? status, message: why } };
  }
  const { outcome = 'failed', value, content, error } = wait.ended ?? {};
  const result = { ...(value !== undefined && { value }), ...(content !== undefined && { content }) };
  if (outcome === 'ok')
    return value === undefined && content === undefined ? { outcome, value: null } : { outcome, ...result };
  return {
    outcome,
    ...result,
    error: error ?? { code: 'work_failed', message: 'The work outside failed without saying why.' },
  };
}
