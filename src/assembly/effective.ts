import type { EffectiveAgent } from '../domain/agent.ts';
import type { Grant, GrantedTool } from '../domain/grant.ts';
import type { Selection } from '../domain/selection.ts';
import { applyClaims, type HeldClaims, type UnmetTool } from './claims.ts';
import type { Frame } from './frame.ts';
import { instructions } from './instructions.ts';
import { narrow } from './narrow.ts';

/** What the operator says of one agent, all of it. */
export interface DeclaredAgent {
  readonly bundle: string;
  readonly revision: string;
  readonly frame: Frame;
  readonly grant: Grant;
  /** The role whose model decides. */
  readonly role: string;
}

export interface Effective {
  readonly agent: EffectiveAgent;
  /** The tools that only an account keeps away. */
  readonly unmet: readonly UnmetTool[];
}

/** The effective agent: grant − selection − unmet claims. Pure and total. */
export function effectiveAgentOf(declared: DeclaredAgent, selection: Selection, held: HeldClaims): Effective {
  const { bundle, revision, frame, grant, role } = declared;
  const { systemPrompt, additional, ...behaviour } = frame;
  const narrowed = narrow(grant, selection);
  const { tools, unmet } = applyClaims(narrowed.tools, held);
  const inactive = [...narrowed.inactive, ...unmet.map(({ name, why }) => ({ name, why }))];
  const agent: EffectiveAgent = {
    bundle,
    revision,
    ...behaviour,
    // The tools before claims: what an account has today must not reach the cached text.
    instructions: instructions({
      grammar: frame.grammar,
      systemPrompt,
      additional,
      tools: definitions(narrowed.tools),
    }),
    tools: definitions(tools),
    inactive: inactive.sort((left, right) => (left.name < right.name ? -1 : 1)),
    role,
    models: [...narrowed.models],
  };
  return { agent, unmet };
}

function definitions(tools: readonly GrantedTool[]): EffectiveAgent['tools'] {
  return tools.map(({ definition }) => definition);
}
