import { TreadleError } from '../../base/errors.ts';
import { canonicalJson, type Json, type JsonObject } from '../../base/json.ts';
import type { EffectiveAgent } from '../../domain/agent.ts';
import { iterationsOf } from '../../domain/conversation.ts';
import type { AgentSource, Assembled } from '../../kernel/agent-source.ts';
import type { Tool, ToolContext, Toolset } from '../../kernel/running-tool.ts';
import type { LoopPorts } from '../../loop/work.ts';
import { Break } from './break.ts';
import type { RecordedTurn, Recording } from './recording.ts';

/** What stands for the run of every tool. */
export type RecordedRun = (args: JsonObject, context: ToolContext) => unknown;

/** Tools that were not there then are not there again, for the same reason. */
export type RecordedAgents = AgentSource & Required<Pick<LoopPorts, 'isTakenOut'>>;

/** The agents that a log holds, with tools of which only their results are known. */
export function agentsOfRecord(recording: Recording, run: RecordedRun): RecordedAgents {
  const { problems, gone } = faultsOf(recording);
  let turn = '';
  const toolsets = new WeakMap<EffectiveAgent, { readonly turn: string; readonly tools: Toolset }>();
  return {
    assemble(_, conversation): Assembled {
      turn = `t${conversation.turns.length + 1}`;
      const recorded = recording.turns.get(turn);
      if (recorded?.agent === undefined) throw new Break(undefined);
      if (recorded.failed !== undefined) throw failedAgain(recorded.failed);
      const { agent, digest, facts } = recorded;
      return { agent, digest, facts };
    },
    tools(agent) {
      const known = toolsets.get(agent);
      if (known?.turn === turn) return known.tools;
      const named = agent.tools.map(({ name }) => name).filter((name) => !gone.has(`${turn} ${name}`));
      const tools = new Map(named.map((name): [string, Tool] => [name, handOf(agent, name)]));
      toolsets.set(agent, { turn, tools });
      return tools;
    },
    isTakenOut: (_, { name }) => gone.get(`${turn} ${name}`) === 'taken_out',
  };

  function handOf(agent: EffectiveAgent, name: string): Tool {
    const definition = agent.tools.find((one) => one.name === name);
    if (definition === undefined) throw new Error('Treadle bug: a tool that the agent does not have');
    return {
      definition,
      validate(args) {
        const problem = problems.get(`${name} ${canonicalJson(args)}`);
        return problem === undefined ? [] : [problem];
      },
      run,
    };
  }
}

/** The same agents as a bundle's, whose tools give what the log says they gave. */
export function withRecordedTools(source: AgentSource, run: RecordedRun): AgentSource {
  const toolsets = new WeakMap<EffectiveAgent, Toolset>();
  return {
    assemble: (meta, conversation) => source.assemble(meta, conversation),
    tools(agent) {
      let tools = toolsets.get(agent);
      if (tools === undefined) {
        const real = source.tools(agent);
        const made = [...real].map(([name, tool]): [string, Tool] => [
          name,
          { definition: tool.definition, validate: (args) => tool.validate(args), run },
        ]);
        toolsets.set(agent, (tools = new Map(made)));
      }
      return tools;
    },
  };
}

/** An agent that could not be assembled cannot again, for the same reason in the same words. */
function failedAgain({ code, message }: NonNullable<RecordedTurn['failed']>): TreadleError {
  // Codes of other versions are words like any others here.
  const error = new TreadleError(code as TreadleError['code']);
  Object.defineProperty(error, 'message', { value: message });
  return error;
}

/** Which arguments did not fit, and which tools were not there, by what the model was told. */
function faultsOf({ end, facts }: Recording): {
  readonly problems: ReadonlyMap<string, string>;
  /** By turn and name: the code of it. */
  readonly gone: ReadonlyMap<string, string>;
} {
  const edits = new Map<string, Json>();
  const asked = new Map<string, string>();
  for (const { type, payload } of facts) {
    if (type === 'hitl.requested' && payload.action !== undefined) asked.set(payload.request, payload.action);
    if (type !== 'hitl.responded' || payload.decision !== 'edit' || payload.arguments === undefined) continue;
    edits.set(asked.get(payload.request) ?? '', payload.arguments);
  }
  const problems = new Map<string, string>();
  const gone = new Map<string, string>();
  for (const turn of end.turn === undefined ? end.turns : [...end.turns, end.turn])
    for (const { actions } of iterationsOf(turn))
      for (const { action, begun, observation } of actions) {
        if (begun !== undefined || observation?.error === undefined || action.problem !== undefined) continue;
        const { code, message } = observation.error;
        if (code === 'unavailable' || code === 'taken_out') gone.set(`${turn.id} ${action.name}`, code);
        if (code !== 'bad_arguments') continue;
        problems.set(`${action.name} ${canonicalJson(edits.get(action.id) ?? action.arguments)}`, message);
      }
  return { problems, gone };
}
