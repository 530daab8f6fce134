import type { Agent } from '../api/types.ts';

/** What one may ask, for who does not know yet. */
export function FirstSteps({ agent }: { readonly agent: Agent | undefined }) {
  return agent === undefined ? null : null;
}
