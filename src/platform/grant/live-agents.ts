import { isPromise, type MaybePromise } from '../../base/promise.ts';
import { canonicalJson } from '../../base/json.ts';
import type { Claim } from '../../domain/grant.ts';
import type { McpTools } from '../../domain/inventory.ts';
import type { ToolDefinition } from '../../domain/tool.ts';
import type { Tool } from '../../kernel/running-tool.ts';
import { toolChanges } from '../../assembly/tool-changes.ts';
import type { EffectiveAgent } from '../../domain/agent.ts';
import type { Conversation } from '../../domain/conversation.ts';
import type { AgentSource, Assembled } from '../../kernel/agent-source.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import type { Toolset } from '../../kernel/running-tool.ts';
import type { Owner } from '../accounts/accounts.ts';
import type { LoadedAgent } from './agent-source.ts';
import { BoundedMap } from '../bounded-map.ts';
import type { GrantWithHands } from './grant.ts';
import type { ToolGroup } from './group-members.ts';
import { serverId, type McpServers } from './mcp-entry.ts';
import type { Services } from './services.ts';

/** An agent whose tools are partly a server's or a service's, and how its grant is made of what these have. */
export interface RemotePart {
  readonly entries: readonly McpTools[];
  /** Namespaces of services that are elsewhere. */
  readonly services: readonly string[];
  readonly grantOf: (groups: ReadonlyMap<McpTools, ToolGroup>) => GrantWithHands;
}

export interface LiveAgentsOptions {
  readonly loaded: ReadonlyMap<string, LoadedAgent>;
  /** By agent. One without tools of servers is absent: it is what it was loaded as. */
  readonly remote: ReadonlyMap<string, RemotePart>;
  readonly servers: McpServers;
  readonly services: Pick<Services, 'now'>;
}

/** Agents with the tools that their servers have at the moment. */
export interface LiveAgents {
  /** As the servers last said to anybody. Undefined for an agent that the bundle does not have. */
  known(agent: string): LoadedAgent | undefined;
  /** After asking the servers where that is due, as they are to this user. Never rejects. */
  now(agent: string, owner?: Owner): MaybePromise<LoadedAgent | undefined>;
  /** What a tool of an agent's turn needs of its user's account. */
  needs(agent: string, definition: ToolDefinition): Claim | undefined;
  /** A source whose turns begin with what the servers have then. */
  source(
    make: (agent: (id: string) => LoadedAgent | undefined) => AgentSource,
    agentNamed: (name: string) => string,
  ): AgentSource;
}

/** States of one bundle's servers that are kept apart. An older one is assembled again. */
const MOST_STATES = 20;

export function createLiveAgents({ loaded, remote, servers, services }: LiveAgentsOptions): LiveAgents {
  const current = new Map<string, LoadedAgent>();
  const states = new BoundedMap<string, LoadedAgent>(MOST_STATES);

  function now(id: string, owner?: Owner): MaybePromise<LoadedAgent | undefined> {
    const part = remote.get(id);
    if (part === undefined) return loaded.get(id);
    const asks = loaded.get(id)?.frame.asksForClaims === true;
    const groups = together(part.entries.map((entry) => servers.group(entry, { owner, asks })));
    const found = together(part.services.map((namespace) => services.now(namespace)));
    if (!isPromise(groups) && !isPromise(found)) return made(id, part, groups, found);
    return Promise.all([groups, found]).then(([ofServers, ofServices]) => made(id, part, ofServers, ofServices));
  }

  function made(
    id: string,
    part: RemotePart,
    groups: readonly VersionedGroup[],
    found: readonly Versioned[],
  ): LoadedAgent | undefined {
    const agent = loaded.get(id);
    if (agent === undefined) return undefined;
    const key = canonicalJson([id, ...[...groups, ...found].map((one) => one?.version ?? 0)]);
    const known = states.get(key);
    if (known !== undefined) {
      current.set(id, known);
      return known;
    }
    const entries = part.entries.map((entry, index): [McpTools, ToolGroup] => [
      entry,
      groups[index] ?? groups[0] ?? NOTHING,
    ]);
    const fresh: LoadedAgent = { ...agent, ...part.grantOf(new Map(entries)) };
    states.set(key, fresh);
    current.set(id, fresh);
    return fresh;
  }

  /** The hands of a turn's tools: those of servers as they were described when the turn began. */
  function handsOf(effective: EffectiveAgent, local: Toolset): Toolset {
    const entries = remote.get(effective.id)?.entries ?? [];
    const tools = new Map<string, Tool>();
    for (const definition of effective.tools) {
      const tool =
        definition.remote === undefined
          ? local.get(definition.name)
          : entries
              .filter(({ alias, name }) => (alias ?? name) === definition.group)
              .map((entry) => servers.hand(entry, definition))
              .find((one) => one !== undefined);
      if (tool !== undefined) tools.set(definition.name, tool);
    }
    return tools;
  }

  function needs(id: string, definition: ToolDefinition): Claim | undefined {
    const { name, group, remote: far } = definition;
    if (far === undefined) {
      const granted = (current.get(id) ?? loaded.get(id))?.grant.tools.find((one) => one.definition.name === name);
      return granted?.needs;
    }
    const entry = remote
      .get(id)
      ?.entries.find((one) => (one.alias ?? one.name) === group && serverId(one) === far.server);
    return entry === undefined ? undefined : (entry.tool_claims?.[far.name] ?? servers.needs(entry));
  }

  return {
    known: (id) => current.get(id) ?? loaded.get(id),
    now,
    needs,
    source(make, agentNamed) {
      if (remote.size === 0) return make((id) => loaded.get(id));
      const sources = new BoundedMap<LoadedAgent, AgentSource>(MOST_STATES);
      const latest = make((id) => current.get(id) ?? loaded.get(id));
      const toolsets = new WeakMap<EffectiveAgent, Toolset>();

      const sourceOf = (agent: LoadedAgent): AgentSource => {
        let source = sources.get(agent);
        if (source === undefined)
          sources.set(agent, (source = make((id) => (id === agent.frame.id ? agent : loaded.get(id)))));
        return source;
      };
      const begin = (meta: ConversationMeta, conversation: Conversation, agent: LoadedAgent | undefined) => {
        const assembled = (agent === undefined ? latest : sourceOf(agent)).assemble(meta, conversation);
        return isPromise(assembled)
          ? assembled.then((one) => withChanges(one, conversation.agent))
          : withChanges(assembled, conversation.agent);
      };
      return {
        assemble(meta, conversation) {
          const agent = now(agentNamed(meta.agent), meta);
          return isPromise(agent)
            ? agent.then((one) => begin(meta, conversation, one))
            : begin(meta, conversation, agent);
        },
        tools(effective) {
          let tools = toolsets.get(effective);
          if (tools === undefined) toolsets.set(effective, (tools = handsOf(effective, latest.tools(effective))));
          return tools;
        },
      };
    },
  };
}

function together<T>(asked: readonly MaybePromise<T>[]): MaybePromise<readonly T[]> {
  if (asked.some(isPromise)) return Promise.all(asked.map(async (one) => one));
  return asked as readonly T[]; // none is a promise
}

type Versioned = { readonly version: number | string } | undefined;
type VersionedGroup = ToolGroup & { readonly version: number | string };
const NOTHING: ToolGroup = { locked: false, tools: [] };

/** Puts on record what became of the tools of servers since the turn before. */
function withChanges(assembled: Assembled, before: EffectiveAgent | undefined): Assembled {
  const changes = before === undefined ? [] : toolChanges(before, assembled.agent);
  if (changes.length === 0) return assembled;
  return {
    ...assembled,
    facts: [...assembled.facts, ...changes.map((payload) => ({ type: 'tool.changed' as const, payload }))],
  };
}
