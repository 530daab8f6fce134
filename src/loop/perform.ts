import { unreachable } from '../base/assert.ts';
import { TreadleError } from '../base/errors.ts';
import { isPromise, type MaybePromise } from '../base/promise.ts';
import type { EffectiveAgent } from '../domain/agent.ts';
import { openRequests, type Inner, type Turn } from '../domain/conversation.ts';
import type { Draft, FactPayload } from '../domain/event.ts';
import { defaultLimits } from '../domain/limits.ts';
import { titleOf } from '../domain/run.ts';
import type { Observation } from '../domain/tool.ts';
import type { Assembled } from '../kernel/agent-source.ts';
import { act } from './act.ts';
import { callModel } from './call-model.ts';
import { compact, plan } from './consult.ts';
import { stopChildren } from './delegate.ts';
import { closeInner } from './inner.ts';
import type { Command } from './command.ts';
import { observation } from './prepared.ts';
import { draft, type RecordOptions } from './recorder.ts';
import { answered, inTurn, openTurn, verdictDrafts, type Work } from './work.ts';

/**
 * Carry out one command: the only code that acts. What happened is in the log when it resolves.
 *
 * Expected trouble becomes facts. Rejects only when the log fails or the lease is lost.
 */
export function perform(work: Work, command: Exclude<Command, { type: 'rest' }>): MaybePromise<void> {
  switch (command.type) {
    case 'start_turn':
      return startTurn(work);
    case 'plan':
      return plan(work);
    case 'compact':
      return compact(work, command.why);
    case 'clear':
      return state(work, [inTurn(openTurn(work), 'memory.cleared', { actions: [...command.actions] })]);
    case 'call_model':
      return callModel(work, command);
    case 'act':
      return act(work, command.actions);
    case 'settle':
      return settle(work, command.why);
    case 'answer':
      return answer(work, command.text);
    case 'end':
      return end(work, command);
    default:
      return unreachable(command);
  }
}

async function startTurn(work: Work): Promise<void> {
  const { conversation } = work.recorder;
  const turnId = `t${conversation.turns.length + 1}`;
  const title = conversation.turns.length === 0 ? { title: titleOf(conversation.inbox[0]?.text ?? '') } : {};
  let assembled: Assembled;
  try {
    const asked = work.ports.agents.assemble(work.meta, conversation);
    assembled = isPromise(asked) ? await answered(work, asked) : asked;
  } catch (error) {
    if (!TreadleError.is(error)) throw error;
    return failTurn(work, turnId, error, title);
  }
  const { agent, digest, facts } = assembled;
  const payload: FactPayload<'agent.turn.start'> = digest === conversation.agentDigest ? { digest } : { agent, digest };
  const start = draft('agent.turn.start', payload, { turnId });
  await keep(work, [...limitsAtStart(work), start, ...facts.map((fact): Draft => ({ ...fact, turnId }))], {
    status: 'running',
    ...title,
  });
}

/** What the run was created with is said in its log, so that the log alone tells what counts. */
function limitsAtStart({ recorder, meta }: Work): Draft[] {
  const { limits, turns } = recorder.conversation;
  if (meta.limits === undefined || turns.length > 0 || Object.keys(limits).length > 0) return [];
  return [draft('limits.changed', { limits: meta.limits, by: meta.parent?.id ?? meta.userId })];
}

/** The agent is gone, such as from an edited bundle: whoever spoke is told, and the run does not wait for it for ever. */
async function failTurn(work: Work, turnId: string, problem: TreadleError, title: { title?: string }): Promise<void> {
  const { agent, agentDigest } = work.recorder.conversation;
  const { agent: id, bundle } = work.meta;
  const known = agent === undefined ? { agent: absentAgent(id, bundle), digest: '' } : { digest: agentDigest ?? '' };
  const error = { code: problem.code, message: problem.message };
  const end = { status: 'error', stop: 'error', iterations: 0, toolCalls: 0, usage: {}, error } as const;
  const drafts = [draft('agent.turn.start', known, { turnId }), draft('agent.turn.end', end, { turnId })];
  await state(work, drafts, { row: { status: 'error', ...title } });
}

/** What stands in a turn's first fact where there is no agent and never was. */
function absentAgent(id: string, bundle: string): EffectiveAgent {
  return {
    ...{ id, bundle, revision: '', grammar: 'native', instructions: '', tools: [], inactive: [], role: '' },
    ...{ models: [{ provider: 'none', model: 'none' }], limits: defaultLimits, onLimit: 'end', renderThinking: true },
  };
}

const SETTLED: {
  readonly [W in Extract<Command, { type: 'settle' }>['why']]: { readonly code: string; readonly notRun: string };
} = {
  cancelled: { code: 'cancelled', notRun: 'The user stopped the turn before this action ran.' },
  steered: {
    code: 'steered',
    notRun: 'The user said something else before this action ran; read the next message first.',
  },
  ended: { code: 'ended', notRun: 'The turn ended before this action ran.' },
  crashed: { code: 'crash_loop', notRun: 'The program stopped each time before this action had a result.' },
};

/** Every open action gets its observation and every open request is taken back, so that the transcript is whole at once. */
async function settle(work: Work, why: keyof typeof SETTLED): Promise<void> {
  await stopChildren(work);
  const turn = openTurn(work);
  const { code, notRun } = SETTLED[why];
  const drafts: Draft[] = why === 'cancelled' ? [inTurn(turn, 'cancel.active', {})] : [];
  for (const request of openRequests(turn).filter((one) => one.parent === undefined))
    drafts.push(inTurn(turn, 'hitl.cancel', { request: request.request, reason: code }));
  for (const { action, begun, inner, observation: known } of turn.current?.actions ?? []) {
    if (known !== undefined) continue;
    // What a program has done is on record call by call.
    const isParked =
      begun?.replays === true &&
      inner?.actions.every((one) => one.begun === undefined || one.observation !== undefined) === true;
    const told = isParked
      ? observation('cancelled', code, `${notRun} ${calledSoFar(inner)}`)
      : unrun(begun?.effect === 'once', code, notRun);
    drafts.push(...closeInner(turn, action.id, code), inTurn(turn, 'tool.result', { action: action.id, ...told }));
  }
  if (why === 'cancelled') drafts.push(inTurn(turn, 'cancel.complete', {}));
  await state(work, drafts);
}

/** What a program that waited had done. */
function calledSoFar({ actions }: Inner): string {
  const done = actions.flatMap(({ name, observation: known }) => (known?.outcome === 'ok' ? [name ?? 'a tool'] : []));
  return done.length === 0 ? 'None of its calls had been made.' : `Of its calls were made: ${done.join(', ')}.`;
}

function unrun(uncertain: boolean, code: string, notRun: string): Observation {
  return uncertain
    ? observation('unknown', code, 'This action was begun and given up: it may or may not have happened.')
    : observation('cancelled', code, notRun);
}

async function answer(work: Work, text: string): Promise<void> {
  const turn = openTurn(work);
  const asked = work.ports.bus.ask(
    'before:io.output',
    { text },
    { conversation: work.recorder.conversation, agent: turn.agent },
  );
  const judged = isPromise(asked) ? await answered(work, asked) : asked;
  const verdicts = verdictDrafts(turn, 'before:io.output', judged.verdicts);
  if (judged.outcome === 'allow') return keep(work, [...verdicts, inTurn(turn, 'io.output', judged.payload)]);
  // Nobody can be asked about an answer: a hold is a no.
  const [held] = judged.holds;
  const denial =
    judged.outcome === 'hold' && held !== undefined
      ? [
          inTurn(turn, 'gate.verdict', {
            question: 'before:io.output',
            gate: held.gate,
            verdict: 'deny',
            reason: held.question,
            code: 'gate_held',
          }),
        ]
      : [];
  return state(work, [...verdicts, ...denial]);
}

function end(work: Work, { status, stop, error }: Extract<Command, { type: 'end' }>): MaybePromise<void> {
  const turn: Turn = openTurn(work);
  const payload: FactPayload<'agent.turn.end'> = {
    status,
    stop,
    iterations: turn.calls,
    toolCalls: turn.toolCalls,
    usage: turn.usage,
  };
  if (error !== undefined) payload.error = error;
  const drafts: Draft[] = [];
  if (turn.cancel === 'requested') drafts.push(inTurn(turn, 'cancel.active', {}), inTurn(turn, 'cancel.complete', {}));
  drafts.push(inTurn(turn, 'agent.turn.end', payload));
  // A steer or a cancel that came in this moment is answered by the next command instead.
  const before = turn.cancel;
  return state(work, drafts, {
    row: { status },
    unless: (now) => now.turn === undefined || now.turn.cancel !== before,
  });
}

function keep(work: Work, drafts: readonly Draft[], row?: RecordOptions['row']): MaybePromise<void> {
  return work.recorder.keep(drafts, row);
}

function state(work: Work, drafts: readonly Draft[], options?: RecordOptions): MaybePromise<void> {
  const stated = work.recorder.record(drafts, options);
  return isPromise(stated) ? stated.then(() => undefined) : undefined;
}
