import { assert } from '../base/assert.ts';
import { isPromise } from '../base/promise.ts';
import type { ActionState } from '../domain/conversation.ts';
import type { Draft, FactPayload } from '../domain/event.ts';
import type { Observation } from '../domain/tool.ts';
import { openRequests, requestFor } from '../domain/conversation.ts';
import { observation as observationSchema } from '../domain/tool.ts';
import { prepare, type Ready } from './prepare.ts';
import { runTool } from './run-tool.ts';
import { inTurn, isInterrupted, openTurn, tell, verdictDrafts, type Work } from './work.ts';

/**
 * Carry out actions: prepare each in the order asked, then run what is ready, so many at a time.
 *
 * Every result is committed when it arrives. The order in which they arrive never reaches the prompt.
 */
export async function act(work: Work, actions: readonly ActionState[]): Promise<void> {
  const ready: Ready[] = [];
  for (const state of actions) {
    if (isInterrupted(work)) return;
    const prepared = prepare(work, state);
    const done = isPromise(prepared) ? await prepared : prepared;
    if (done.type === 'ready') ready.push(done);
    else {
      const stated = work.recorder.record(done.drafts);
      if (isPromise(stated)) await stated;
    }
  }
  const turn = openTurn(work);
  if (ready.length === 0) {
    if (openRequests(turn).length > 0) tell(work, 'io.status', { state: 'waiting' });
    return;
  }
  const width = Math.min(turn.agent.limits.maxConcurrent, ready.length);
  if (!(await begin(work, ready.slice(0, width)))) return;
  let following = width;
  const lane = async (first: Ready): Promise<void> => {
    await finish(work, first);
    while (!isInterrupted(work)) {
      const one = ready[following++];
      if (one === undefined || !(await begin(work, [one]))) return;
      await finish(work, one);
    }
  };
  if (width === 1 && ready[0] !== undefined) await lane(ready[0]);
  else await Promise.all(ready.slice(0, width).map(lane));
}

/** States the intents. False when the turn was interrupted first: nothing was begun then. */
async function begin(work: Work, actions: readonly Ready[]): Promise<boolean> {
  const turn = openTurn(work);
  const drafts: Draft[] = [];
  for (const { state, tool, args, argumentHash, revisedBy, verdicts, begun } of actions) {
    drafts.push(...verdicts);
    if (begun) continue; // its intent is on record from before the crash or the question
    const payload: FactPayload<'tool.invoke'> = {
      action: state.action.id,
      name: tool.definition.name,
      arguments: args,
      argumentHash,
      effect: tool.definition.effect,
    };
    if (revisedBy !== undefined) payload.revisedBy = revisedBy;
    drafts.push(inTurn(turn, 'tool.invoke', payload));
  }
  if (drafts.length === 0) return !isInterrupted(work);
  const stated = work.recorder.record(drafts, { unless: () => isInterrupted(work) });
  return (isPromise(stated) ? await stated : stated) !== undefined;
}

/** Runs one action and states its result. */
async function finish(work: Work, ready: Ready): Promise<void> {
  const { state, tool, args } = ready;
  tell(work, 'io.status', { state: 'tool_running', detail: tool.definition.name });
  const ran = runTool(work, ready);
  const returned = isPromise(ran) ? await ran : ran;
  const action = state.action.id;
  const turn = openTurn(work);
  if (returned.type === 'ask') {
    const asked = work.recorder.record([
      inTurn(turn, 'hitl.requested', {
        request: `${action}-q${turn.requests.filter((one) => one.action === action).length + 1}`,
        kind: 'input',
        action,
        question: returned.question,
        ...(returned.choices === undefined ? {} : { choices: [...returned.choices] }),
        gate: tool.definition.name,
      }),
    ]);
    if (isPromise(asked)) await asked;
    return;
  }
  const question = { action, tool: tool.definition, arguments: args, observation: returned.observation };
  const asked = work.ports.bus.ask(
    'before:tool.result',
    question,
    { conversation: work.recorder.conversation, agent: turn.agent },
    (revised) => {
      const checked = observationSchema.safeParse(revised.observation);
      return checked.success ? undefined : (checked.error.issues[0]?.message ?? 'it is not an observation');
    },
  );
  const judged = isPromise(asked) ? await asked : asked;
  const counted: Observation =
    judged.outcome === 'allow'
      ? judged.payload.observation
      : {
          outcome: 'refused',
          synthetic: true,
          error: {
            code: judged.denial?.code ?? 'gate_denied',
            message: `The result was withheld: ${judged.denial?.reason ?? judged.holds[0]?.question ?? 'refused'}`,
          },
        };
  assert(
    requestFor(turn, action)?.kind !== 'action' || requestFor(turn, action)?.answer !== undefined,
    'an action ran while its approval was open',
  );
  const stated = work.recorder.record([
    ...verdictDrafts(turn, 'before:tool.result', judged.verdicts, action),
    inTurn(turn, 'tool.result', { action, ...counted }),
  ]);
  if (isPromise(stated)) await stated;
}
