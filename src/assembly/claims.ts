import type { InactiveTool } from '../domain/agent.ts';
import type { GrantedTool } from '../domain/grant.ts';

/** By provider of a connected account: the rights that the user has there. */
export type HeldClaims = Readonly<Record<string, readonly string[]>>;

/**
 * Drop the tools whose claims the user's accounts do not meet, for this turn.
 *
 * Pure. Permission fails closed: rights that could not be read are `{}`, which meets nothing.
 */
export function applyClaims(
  tools: readonly GrantedTool[],
  held: HeldClaims,
): { readonly tools: readonly GrantedTool[]; readonly inactive: readonly InactiveTool[] } {
  const inactive: InactiveTool[] = [];
  const active = tools.filter((tool) => {
    const why = unmet(tool, held);
    if (why !== undefined) inactive.push({ name: tool.definition.name, why });
    return why === undefined;
  });
  return { tools: inactive.length === 0 ? tools : active, inactive };
}

function unmet({ needs }: GrantedTool, held: HeldClaims): string | undefined {
  if (needs === undefined) return undefined;
  const has = Object.hasOwn(held, needs.provider) ? held[needs.provider] : undefined;
  if (has === undefined) return `needs a connected ${needs.provider} account`;
  const missing = needs.claims.filter((claim) => !has.includes(claim));
  if (missing.length === 0) return undefined;
  return `needs ${missing.join(', ')} in the connected ${needs.provider} account`;
}
