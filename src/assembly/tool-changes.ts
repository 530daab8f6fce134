import type { EffectiveAgent } from '../domain/agent.ts';
import type { FactPayload } from '../domain/event.ts';
import { isSameTool, type ToolDefinition } from '../domain/tool.ts';

/**
 * What the servers of an agent have changed from one turn to the next, by server.
 *
 * A tool that is inactive in one of the two is not a change of its server: why it is out is said there.
 */
export function toolChanges(before: EffectiveAgent, after: EffectiveAgent): readonly FactPayload<'tool.changed'>[] {
  const old = remoteTools(before);
  const now = remoteTools(after);
  const wasOut = new Set(before.inactive.map(({ name }) => name));
  const isOut = new Set(after.inactive.map(({ name }) => name));
  const servers = new Set([...old.values(), ...now.values()].map(({ remote }) => remote?.server ?? ''));
  return [...servers].sort().flatMap((server) => {
    const of = (tools: ReadonlyMap<string, ToolDefinition>) =>
      [...tools.keys()].filter((name) => tools.get(name)?.remote?.server === server);
    const added = of(now).filter((name) => !old.has(name) && !wasOut.has(name));
    const removed = of(old).filter((name) => !now.has(name) && !isOut.has(name));
    const changed = of(now).filter((name) => {
      const [one, other] = [old.get(name), now.get(name)];
      return one !== undefined && other !== undefined && !isSameTool(one, other);
    });
    return added.length + removed.length + changed.length === 0 ? [] : [{ server, added, removed, changed }];
  });
}

function remoteTools({ tools }: EffectiveAgent): ReadonlyMap<string, ToolDefinition> {
  return new Map(tools.filter(({ remote }) => remote !== undefined).map((tool) => [tool.name, tool]));
}
