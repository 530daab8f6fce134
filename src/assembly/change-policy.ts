import type { Bundle } from '../domain/bundle.ts';
import { CACHE_POLICIES, type CachePolicy, type ChangeClass, type Selection } from '../domain/selection.ts';
import type { SelectionPatch } from '../domain/selection-patch.ts';
import { behaviourLevels, resolve } from './resolve.ts';

/** What an operator says of changes that would make a warm prompt cold. */
export interface ChangePolicy {
  readonly default: CachePolicy;
  readonly allowed: readonly CachePolicy[];
  /** Absent: as often as users like. */
  readonly coldTurnsPerHour?: number | undefined;
}

export function changePolicyOf(bundle: Bundle, agent: string): ChangePolicy {
  const { selection_change_policy: policy, cold_turns_per_hour: coldTurnsPerHour } =
    resolve(behaviourLevels(bundle, agent), 'cache')?.value ?? {};
  return {
    default: policy?.default ?? 'confirm',
    allowed: policy?.allowed ?? CACHE_POLICIES,
    ...(coldTurnsPerHour === undefined ? {} : { coldTurnsPerHour }),
  };
}

/** The user's word for this kind of change, where the operator allows it, else the operator's. */
export function policyFor(kind: ChangeClass, selection: Selection, policy: ChangePolicy): CachePolicy {
  const own = selection.cache_policy?.[kind];
  return own !== undefined && policy.allowed.includes(own) ? own : policy.default;
}

/** What a person can decide about one change. */
export const DECISIONS = ['accept', 'defer_cold', 'defer_conversation'] as const;
export type ChangeDecision = (typeof DECISIONS)[number];

/** Whoever may be asked may also say yes. */
export function decisionsUnder({ allowed }: ChangePolicy): readonly ChangeDecision[] {
  return DECISIONS.filter((one) => allowed.includes(one) || (one === 'accept' && allowed.includes('confirm')));
}

/**
 * A change by kinds, so that each goes by its own policy. A kind of which nothing is said is absent. The model first: with
 * another one the whole prompt is paid at that one's price, and whatever else changes costs nothing more.
 */
export function byClass({ disabled, model }: SelectionPatch): ReadonlyMap<ChangeClass, SelectionPatch> {
  const parts = new Map<ChangeClass, SelectionPatch>();
  if (model !== undefined) parts.set('model_switch', { model });
  if (disabled !== undefined && Object.keys(disabled).length > 0) parts.set('capability_toggle', { disabled });
  return parts;
}
