import type { CallData } from '../api/types.ts';

/** Tokens as people compare them: what a cache saved, what it cost, what was read in full, what was said. */
export const TOKEN_PARTS = [
  { key: 'read', name: 'Cache read', colour: 'var(--series-1)' },
  { key: 'written', name: 'Cache write', colour: 'var(--series-2)' },
  { key: 'fresh', name: 'Fresh input', colour: 'var(--series-3)' },
  { key: 'output', name: 'Output', colour: 'var(--series-4)' },
] as const;

export type TokenFigures = Readonly<Record<(typeof TOKEN_PARTS)[number]['key'], number>>;

/** A part that no provider reported counts as none: a picture has no place for what is unknown. */
export function tokenFigures(usage: CallData['usage']): TokenFigures {
  return {
    read: usage.cacheRead ?? 0,
    written: (usage.cacheWrite ?? 0) + (usage.cacheWriteLong ?? 0),
    fresh: usage.input ?? 0,
    output: (usage.output ?? 0) + (usage.reasoning ?? 0),
  };
}
