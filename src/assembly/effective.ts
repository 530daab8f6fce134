import type { EffectiveAgent, ModelRef } from '../domain/agent.ts';
import { cacheProfile } from '../domain/cache-profile.ts';
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
  const { systemPrompt, additional, keepListed, ...behaviour } = frame;
  const narrowed = narrow(grant, selection);
  // What an account has today must not reach the cached text, so what only an account keeps away stays listed.
  const listed = staysListed(frame, narrowed.models) ? grant.tools : narrowed.tools;
  const { tools, unmet } = applyClaims(narrowed.tools, held);
  const inactive = [...narrowed.inactive, ...unmet.map(({ name, why }) => ({ name, why }))];
  const agent: EffectiveAgent = {
    bundle,
    revision,
    ...behaviour,
    instructions: instructions({ grammar: frame.grammar, systemPrompt, additional, tools: definitions(listed) }),
    tools: definitions(tools),
    ...(listed.length === tools.length ? {} : { listed: definitions(listed) }),
    inactive: inactive.sort((left, right) => (left.name < right.name ? -1 : 1)),
    role,
    models: [...narrowed.models],
  };
  return { agent, unmet };
}

/**
 * Whether a tool that a user switched off stays in the prompt: where the operator says so, and where the provider can be
 * told which of the listed tools may be called.
 */
function staysListed({ keepListed, grammar }: Frame, models: readonly ModelRef[]): boolean {
  const [first] = models;
  return keepListed === true || (grammar === 'native' && first !== undefined && cacheProfile(first).masks);
}

function definitions(tools: readonly GrantedTool[]): EffectiveAgent['tools'] {
  return tools.map(({ definition }) => definition);
}
