import type { Clock } from '../../base/clock.ts';
import { digest } from '../../base/digest.ts';
import { toJson } from '../../base/json.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import type { EffectiveAgent } from '../../domain/agent.ts';
import { toolDigest, type ToolDefinition } from '../../domain/tool.ts';
import type { AgentSource, Assembled } from '../../kernel/agent-source.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Tool, ToolContext, Toolset } from '../../kernel/running-tool.ts';
import type { KnownTool, ToolMemory } from '../../kernel/stores.ts';
import { askStore, STORE_TIMEOUT_MS, type Asked } from '../accounts/ask-store.ts';
import { BoundedMap } from '../bounded-map.ts';

export interface WithToolMemoryOptions {
  readonly memory: ToolMemory;
  /** Id of the bundle: two may have servers of one name. */
  readonly bundle: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const MOST_AGENTS = 500;

/**
 * The same agents, who remember under which description a user let each tool of a server run: a turn says which of its
 * tools are described otherwise now, and the gate asks about those, in whichever conversation and after a restart.
 *
 * A store that cannot be read leaves what the conversation itself remembers, and the operator is told.
 */
export function withToolMemory(
  source: AgentSource,
  { memory, bundle, clock, logger }: WithToolMemoryOptions,
): AgentSource {
  const marked = new BoundedMap<string, Assembled>(MOST_AGENTS);
  const toolsets = new WeakMap<EffectiveAgent, Toolset>();

  function withChanged(assembled: Assembled, known: readonly KnownTool[]): Assembled {
    const changed = assembled.agent.tools.filter((tool) => isChanged(tool, known)).map(({ name }) => name);
    if (changed.length === 0) return assembled;
    const key = `${assembled.digest}\n${changed.join('\n')}`;
    let made = marked.get(key);
    if (made === undefined) {
      const agent = Object.freeze({ ...assembled.agent, changed: Object.freeze(changed) }) as EffectiveAgent; // a list is frozen as a list
      marked.set(key, (made = { agent, digest: digest(toJson(agent)), facts: [] }));
    }
    return { ...made, facts: assembled.facts };
  }

  function remembering(tool: Tool): Tool {
    const { definition } = tool;
    const { remote } = definition;
    if (remote === undefined) return tool;
    const known: KnownTool = { server: remote.server, tool: remote.name, digest: toolDigest(definition) };
    return {
      definition,
      validate: (args) => tool.validate(args),
      run: (args, context) => {
        const kept = keep(context, known);
        return isPromise(kept) ? kept.then(() => tool.run(args, context)) : tool.run(args, context);
      },
      ...(tool.probe !== undefined && { probe: (key: string, context: ToolContext) => tool.probe?.(key, context) }),
    };
  }

  /** Whatever runs was allowed, under this description. */
  function keep({ tenant, userId }: ToolContext, known: KnownTool): MaybePromise<void> {
    const asked = askStore(() => memory.rememberTool({ tenant, userId, bundle }, known), clock, STORE_TIMEOUT_MS);
    if (isPromise(asked)) return asked.then(told);
    told(asked);
    return undefined;
  }

  function told(asked: Asked): void {
    if (!asked.ok) logger.warn('how a tool is described could not be remembered or read', { why: asked.why });
  }

  return {
    assemble(meta, conversation) {
      const use = (assembled: Assembled): MaybePromise<Assembled> => {
        if (!assembled.agent.tools.some(({ remote }) => remote !== undefined)) return assembled;
        const { tenant, userId } = meta;
        const asked = askStore(() => memory.toolsOf({ tenant, userId, bundle }), clock, STORE_TIMEOUT_MS);
        const mark = (given: Asked<readonly KnownTool[]>): Assembled => {
          if (!given.ok) told(given);
          return given.ok ? withChanged(assembled, given.value) : assembled;
        };
        return isPromise(asked) ? asked.then(mark) : mark(asked);
      };
      const assembled = source.assemble(meta, conversation);
      return isPromise(assembled) ? assembled.then(use) : use(assembled);
    },
    tools(effective) {
      let tools = toolsets.get(effective);
      if (tools === undefined) {
        const all = source.tools(effective);
        const hasRemote = effective.tools.some(({ remote }) => remote !== undefined);
        tools = hasRemote ? new Map([...all].map(([name, tool]) => [name, remembering(tool)])) : all;
        toolsets.set(effective, tools);
      }
      return tools;
    },
  };
}

function isChanged(tool: ToolDefinition, known: readonly KnownTool[]): boolean {
  const { remote } = tool;
  if (remote === undefined) return false;
  const before = known.find(({ server, tool: name }) => server === remote.server && name === remote.name);
  return before !== undefined && before.digest !== toolDigest(tool);
}
