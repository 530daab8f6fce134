import type { EffectiveAgent } from '../../domain/agent.ts';
import type { AgentSource } from '../../kernel/agent-source.ts';
import type { Tool, Toolset } from '../../kernel/running-tool.ts';
import { toolFailure, toolResult } from '../../kernel/tool.ts';
import { mismatch } from './matching.ts';
import type { Stub, Suite } from './suite.ts';

export interface Hands {
  readonly stubs: NonNullable<Suite['stubs']>;
  /** Tools that really run. */
  readonly runs: readonly string[];
}

/** The same agents with hands for a test: a stub where there is one, the tool where it only reads or may run, else a failure. */
export function withStubs(source: AgentSource, { stubs, runs }: Hands): AgentSource {
  const left = new Map(Object.entries(stubs).map(([name, given]) => [name, Array.isArray(given) ? [...given] : given]));
  const toolsets = new WeakMap<EffectiveAgent, Toolset>();
  const handOf = (name: string, tool: Tool): Tool => {
    const given = left.get(name);
    if (given !== undefined) return stubbed(tool, given);
    return tool.definition.effect === 'read' || runs.includes(name) ? tool : withheld(tool);
  };
  return {
    assemble: (meta, conversation) => source.assemble(meta, conversation),
    tools(agent) {
      let tools = toolsets.get(agent);
      if (tools === undefined) {
        const made = [...source.tools(agent)].map(([name, tool]): [string, Tool] => [name, handOf(name, tool)]);
        toolsets.set(agent, (tools = new Map(made)));
      }
      return tools;
    },
  };
}

/** `given`: one stub for every call, or a list of which each call uses up the next that fits. */
function stubbed(tool: Tool, given: Stub | Stub[]): Tool {
  return {
    definition: tool.definition,
    validate: (args) => tool.validate(args),
    run(args) {
      const fits = (one: Stub): boolean => one.with === undefined || mismatch(one.with, args) === undefined;
      const list = Array.isArray(given) ? given : [given];
      const index = list.findIndex(fits);
      const found = list[index];
      if (Array.isArray(given) && index >= 0 && given.length > 1) given.splice(index, 1);
      if (found === undefined) return toolFailure('no_stub', 'The suite has no answer for these arguments.');
      if (found.fails !== undefined) return toolFailure(found.fails.code ?? 'tool_failed', found.fails.message);
      return toolResult({ value: found.returns ?? null });
    },
  };
}

function withheld(tool: Tool): Tool {
  return {
    definition: tool.definition,
    validate: (args) => tool.validate(args),
    run: () => toolFailure('no_stub', 'It would change something, and the suite has no stub for it.'),
  };
}
