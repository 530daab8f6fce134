import { digest } from '../base/digest.ts';
import { deepFreeze } from '../base/freeze.ts';
import { isPromise } from '../base/promise.ts';
import type { JsonObject } from '../base/json.ts';
import type { Draft } from '../domain/event.ts';
import type { Observation } from '../domain/tool.ts';
import type { Tool, ToolContext } from '../kernel/ports.ts';
import { allowedBefore, offerOf } from './allowed.ts';
import { withOwnWord } from './ask-tool.ts';
import { allowedNames, observation, type Ready } from './prepare.ts';
import { runTool } from './run-tool.ts';
import { checked, heard } from './withheld.ts';
import { answered, inTurn, isInterrupted, openTurn, verdictDrafts, type Work } from './work.ts';

/** Actions that one action may ask for while it runs. */
const MOST = 200;

/**
 * Lets a tool call others while it runs: each call is an action under its own, validated, asked of the gates, and on record
 * with its intent and its result.
 *
 * Nothing in there can wait. A person answers in days, and what runs cannot be put away for as long: what somebody
 * would have to be asked about is refused, and the model may ask for it as an action of its own.
 */
export function innerCalls(work: Work, parent: Ready): ToolContext['call'] {
  const { id: turnId } = openTurn(work);
  let count = 0;
  return async (name, args) => {
    const isOver = (): boolean => isInterrupted(work) || work.recorder.conversation.turn?.id !== turnId;
    if (isOver()) return STOPPED;
    if (count >= MOST) return refused('too_many', `At most ${MOST} tools are called from one action.`);
    return callInside(work, parent, { id: `${parent.state.action.id}.${++count}`, name, args, isOver });
  };
}

interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
  readonly isOver: () => boolean;
}

const STOPPED: Observation = observation('cancelled', 'cancelled', 'The turn was stopped before this was called.');

async function callInside(work: Work, parent: Ready, { id, name, args: given, isOver }: Call): Promise<Observation> {
  const turn = openTurn(work);
  const names = [...allowedNames(turn)].filter((one) => one !== parent.tool.definition.name);
  const tool = names.includes(name) ? work.ports.agents.tools(turn.agent).get(name) : undefined;
  if (tool === undefined) {
    return refused(
      'not_allowed',
      `There is no tool ${JSON.stringify(name)} to call from here. There is: ${names.join(', ')}.`,
    );
  }
  const args = deepFreeze(given);
  const problems = tool.validate(args);
  if (problems.length > 0) return observation('invalid', 'bad_arguments', problems.join('; '));
  const shown = { conversation: work.recorder.conversation, agent: turn.agent };
  const timeoutMs = tool.definition.timeoutMs ?? turn.agent.limits.toolTimeoutMs;
  const asked = work.ports.bus.ask(
    'before:tool.invoke',
    { action: id, tool: tool.definition, arguments: args, timeoutMs },
    shown,
    (revised) => tool.validate(revised.arguments)[0],
  );
  const byGates = isPromise(asked) ? await answered(work, asked) : asked;
  const own = withOwnWord(work, id, tool, byGates);
  const judged = isPromise(own) ? await answered(work, own) : own;
  const verdicts = verdictDrafts(turn, 'before:tool.invoke', judged.verdicts, id);
  const parentId = parent.state.action.id;
  const settled = async (told: Observation): Promise<Observation> => {
    await record(work, [...verdicts, inTurn(turn, 'tool.result', { action: id, parent: parentId, ...told })]);
    return told;
  };
  if (isOver()) return STOPPED;
  if (judged.denial !== undefined) return settled(refused(judged.denial.code ?? 'gate_denied', judged.denial.reason));
  let allowedBy: readonly string[] | undefined;
  if (judged.outcome === 'hold') {
    const offer = offerOf(work, tool.definition, judged.holds);
    allowedBy = offer === undefined ? undefined : await allowedBefore(work, offer);
    if (allowedBy === undefined) return settled(refused('needs_approval', needsPerson(name)));
  }
  const final = judged.payload.arguments;
  const intent = {
    ...{ action: id, parent: parentId, name, arguments: final, argumentHash: digest(final) },
    effect: tool.definition.effect,
    ...(judged.revisedBy !== undefined && { revisedBy: judged.revisedBy }),
    ...(allowedBy !== undefined && { allowedBy: [...allowedBy] }),
  };
  await record(work, [...verdicts, inTurn(turn, 'tool.invoke', intent)]);
  const told = await run(work, parent, tool, { id, name, args: final as JsonObject }, timeoutMs); // validated
  const answer = work.ports.bus.ask(
    'before:tool.result',
    { action: id, tool: tool.definition, arguments: final, observation: deepFreeze(told) },
    shown,
  );
  const said = isPromise(answer) ? await answered(work, answer) : answer;
  const counted = said.revisedBy === undefined ? heard(said) : await checked(heard(said), said.revisedBy);
  if (work.recorder.conversation.turn?.id !== turn.id) return counted; // the turn has ended without it
  await record(work, [
    ...verdictDrafts(turn, 'before:tool.result', said.verdicts, id),
    inTurn(turn, 'tool.result', { action: id, parent: parentId, ...counted }),
  ]);
  return counted;
}

async function run(
  work: Work,
  parent: Ready,
  tool: Tool,
  { id, name, args }: Pick<Call, 'id' | 'name' | 'args'>,
  timeoutMs: number,
): Promise<Observation> {
  const state = { action: { id, name, arguments: args } };
  const ran = await runTool(work, {
    ...parent,
    state,
    tool,
    args,
    timeoutMs,
    reply: undefined,
    probe: false,
    begun: true,
  });
  if (ran.type === 'observed') return ran.observation;
  return refused(
    'cannot_wait',
    `${name} waits for somebody else, which a call from another tool cannot: use it by itself.`,
  );
}

function needsPerson(name: string): string {
  return `A person has to be asked before ${name} runs like this, and nobody can be asked from here: call ${name} by itself.`;
}

function refused(code: string, message: string): Observation {
  return observation('refused', code, message);
}

async function record(work: Work, drafts: readonly Draft[]): Promise<void> {
  const stated = work.recorder.record(drafts);
  if (isPromise(stated)) await stated;
}
