import type { Usage } from './usage.ts';

const PARTS = ['input', 'cacheRead', 'cacheWrite', 'cacheWriteLong', 'output', 'reasoning', 'searches'] as const;

export const noUsage: Usage = {};

/** Part by part; a part is absent from the sum only when it is absent from both. */
export function addUsage(left: Usage, right: Usage): Usage {
  const sum: Usage = {};
  for (const name of PARTS) {
    const a = left[name];
    const b = right[name];
    if (a !== undefined || b !== undefined) sum[name] = (a ?? 0) + (b ?? 0);
  }
  return sum;
}

export function inputTokens(of: Usage): number {
  return (of.input ?? 0) + (of.cacheRead ?? 0) + (of.cacheWrite ?? 0) + (of.cacheWriteLong ?? 0);
}

export function outputTokens(of: Usage): number {
  return (of.output ?? 0) + (of.reasoning ?? 0);
}
