import type { EffectiveAgent } from '../domain/agent.ts';
import type { FactPayload } from '../domain/event.ts';

const DENIED = 'not allowed to the run that delegated this task';

/**
 * An agent in a child run: what its parent may not have it has not either, and what its parent has to ask for it asks for.
 *
 * Pure. Only takes away. The cached text stays as it is: what is gone stands in announce.
 */
export function underCeiling(agent: EffectiveAgent, ceiling: FactPayload<'ceiling.set'> | undefined): EffectiveAgent {
  if (ceiling === undefined) return agent;
  const [denied, ask] = [new Set(ceiling.denied), new Set(ceiling.ask)];
  const gone = agent.tools.filter((tool) => denied.has(tool.name));
  if (gone.length === 0 && !agent.tools.some((tool) => ask.has(tool.name))) return agent;
  return {
    ...agent,
    tools: agent.tools
      .filter((tool) => !gone.includes(tool))
      .map((tool) => (ask.has(tool.name) ? { ...tool, approval: 'ask' as const } : tool)),
    inactive: [...agent.inactive, ...gone.map(({ name }) => ({ name, why: DENIED }))].sort((left, right) =>
      left.name < right.name ? -1 : 1,
    ),
  };
}
