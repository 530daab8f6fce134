import type { Usage } from '../domain/usage.ts';
import { inputTokens } from '../domain/usage-sum.ts';

/** In the order of the wire, where tools come first. */
const WIRE_ORDER = ['tools', 'protocol', 'instructions', 'gallery', 'past turns', 'this turn'];

/** Tokens are told apart by their share of the bytes, which is not exact. */
const SLACK = 1.1;

/**
 * Which sections of a prompt were read from a cache, by what the provider billed for all of it: `partly` is the one in
 * which the reading ended. Empty when the provider said nothing.
 */
export function sectionReads(
  sections: readonly { readonly name: string; readonly bytes: number }[],
  usage: Usage | undefined,
): ReadonlyMap<string, 'yes' | 'partly' | 'no'> {
  const read = usage?.cacheRead;
  const reads = new Map<string, 'yes' | 'partly' | 'no'>();
  if (usage === undefined || read === undefined) return reads;
  const bytes = sections.reduce((sum, one) => sum + one.bytes, 0);
  const total = inputTokens(usage);
  if (bytes === 0 || total === 0) return reads;
  let end = 0;
  for (const name of WIRE_ORDER) {
    const section = sections.find((one) => one.name === name);
    if (section === undefined || section.bytes === 0) continue;
    const begin = end;
    end += (section.bytes / bytes) * total;
    reads.set(name, read === 0 || begin >= read * SLACK ? 'no' : end <= read * SLACK ? 'yes' : 'partly');
  }
  // Whatever comes after every marker is sent anew each time.
  if (sections.some(({ name, bytes: size }) => name === 'announce' && size > 0)) reads.set('announce', 'no');
  return reads;
}
