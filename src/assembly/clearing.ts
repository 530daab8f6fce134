import { cacheProfile, roughTokens } from '../domain/cache-profile.ts';
import { iterationsOf, type ActionState, type Conversation, type Turn } from '../domain/conversation.ts';
import { isCold } from './cache.ts';
import { PRE_TAIL_OFFSET } from './checkpoints.ts';
import { observationText } from './observation.ts';

/**
 * The results that are to be cleared out of the prompt now, by the ids of their actions: old, large and together worth
 * writing the prompt to the cache again, or of any worth when no cache holds it.
 *
 * Pure, and of the log alone. A result that failed stays, and so do the latest ones and what a summary stands for.
 */
export function clearable(conversation: Conversation, turn: Turn): readonly string[] {
  const { resultsMaxTokens, resultsKept = 0, resultsLeastBytes = 0 } = turn.agent.limits;
  if (resultsMaxTokens === undefined) return NONE;
  const { summary, turns, cleared, contextTokens, at } = conversation;
  // Of a provider that says nothing about its cache nobody knows whether it is cold.
  const [model] = turn.agent.models;
  const isKnown = model !== undefined && cacheProfile(model).kind !== 'unknown';
  const cold = isKnown && turn.current === undefined && isCold(conversation, at);
  // All results together are no more than the prompt.
  if (!cold && contextTokens < resultsMaxTokens) return NONE;
  const found: { readonly id: string; readonly size: number }[] = [];
  for (const one of turns) if (one.number > (summary?.through ?? 0)) found.push(...resultsOf(one, Infinity));
  const held = resultsOf(turn, cold ? Infinity : turn.calls - PRE_TAIL_OFFSET);
  const all = [...found, ...resultsOf(turn, Infinity)];
  const latest = new Set(all.slice(Math.max(0, all.length - resultsKept)).map(({ id }) => id));
  const old = [...found, ...held].filter(
    ({ id, size }) => size >= Math.max(1, resultsLeastBytes) && !latest.has(id) && !cleared.has(id),
  );
  const gain = roughTokens(old.reduce((sum, { size }) => sum + size, 0));
  return gain === 0 || (!cold && gain < resultsMaxTokens) ? NONE : old.map(({ id }) => id);
}

const NONE: readonly string[] = [];

/** The results of a turn's requests up to number `last`, in order. One that failed has no size: it stays. */
function resultsOf(turn: Turn, last: number): { readonly id: string; readonly size: number }[] {
  const found: { readonly id: string; readonly size: number }[] = [];
  for (const { number, actions } of iterationsOf(turn)) {
    if (number > last) break;
    for (const state of actions) found.push({ id: state.action.id, size: sizeOf(state) });
  }
  return found;
}

const sizes = new WeakMap<NonNullable<ActionState['observation']>, number>();

/** Characters, each result measured once. Files count as their text would: they are what clearing gains most by. */
function sizeOf({ observation }: ActionState): number {
  if (observation?.outcome !== 'ok') return 0;
  let size = sizes.get(observation);
  if (size === undefined) {
    size = observationText(observation).length;
    for (const part of observation.content ?? []) size += part.type === 'text' ? part.text.length : FILE_CHARACTERS;
    sizes.set(observation, size);
  }
  return size;
}

const FILE_CHARACTERS = 4_000;
