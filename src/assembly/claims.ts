import type { EffectiveAgent, InactiveTool } from '../domain/agent.ts';
import type { Claim, GrantedTool } from '../domain/grant.ts';

/** By provider of a connected account: the rights that the user has there. */
export type HeldClaims = Readonly<Record<string, readonly string[]>>;

/** A tool that is out for this turn, and the account that would bring it back. */
export interface UnmetTool extends InactiveTool {
  readonly account: string;
}

/**
 * Drop the tools whose claims the user's accounts do not meet, for this turn.
 *
 * Pure. Permission fails closed: rights that could not be read are `{}`, which meets nothing.
 */
export function applyClaims(
  tools: readonly GrantedTool[],
  held: HeldClaims,
): { readonly tools: readonly GrantedTool[]; readonly unmet: readonly UnmetTool[] } {
  const unmet: UnmetTool[] = [];
  const met = tools.filter(({ definition, needs }) => {
    const why = needs === undefined ? undefined : missing(needs, held);
    if (needs !== undefined && why !== undefined) unmet.push({ name: definition.name, why, account: needs.provider });
    return why === undefined;
  });
  return { tools: unmet.length === 0 ? tools : met, unmet };
}

/**
 * The tools that an account brings back: unmet in the turn before, and now there and met. By account.
 *
 * Of a server whose tools nobody knew, the group stood for all of them.
 */
export function reactivated(
  before: EffectiveAgent | undefined,
  now: EffectiveAgent,
): NonNullable<EffectiveAgent['unmet']> {
  const there = new Set(now.tools.map(({ name }) => name));
  const ofGroup = (group: string): readonly string[] =>
    now.tools.filter((tool) => tool.remote !== undefined && tool.group === group).map(({ name }) => name);
  const still = new Set((now.unmet ?? []).flatMap(({ tools }) => tools));
  return (before?.unmet ?? []).flatMap(({ account, tools }) => {
    const back = tools.filter((name) => !still.has(name)).flatMap((name) => (there.has(name) ? [name] : ofGroup(name)));
    return back.length === 0 ? [] : [{ account, tools: back }];
  });
}

/** Why these rights do not meet what is needed, or undefined when they do. */
export function missing(needs: Claim, held: HeldClaims): string | undefined {
  const has = Object.hasOwn(held, needs.provider) ? held[needs.provider] : undefined;
  if (has === undefined) return `needs a connected ${needs.provider} account`;
  const lacking = needs.claims.filter((claim) => !has.includes(claim));
  if (lacking.length === 0) return undefined;
  return `needs ${lacking.join(', ')} in the connected ${needs.provider} account`;
}
