import { roughTokens, type CacheProfile } from '../domain/cache-profile.ts';
import type { Checkpoint, CheckpointPlace } from '../domain/checkpoint.ts';
import type { Message, ModelRequest } from '../domain/model.ts';
import { catalogueText, messageText } from './message-text.ts';

/** Requests that the checkpoint in the middle of a turn stays behind. */
export const PRE_TAIL_OFFSET = 4;
/** Requests that a turn has before it gets one. */
const PRE_TAIL_LEAST = 2;

export interface Allocation {
  /** In the order of the prompt, never more than the provider takes. */
  readonly placed: readonly Checkpoint[];
  /** Places that got none, and why. */
  readonly left: readonly { readonly place: CheckpointPlace; readonly why: string }[];
}

interface Candidate extends Checkpoint {
  /** Tokens up to here, roughly. */
  readonly tokens: number;
  /** Tokens that the marker is expected to save, roughly. */
  readonly value: number;
}

/** What the allocator has to know of the transcript, in messages. */
export interface Ends {
  /** Where the turns that have ended end. */
  readonly past: number;
  /** Where the requests of this turn ended, before the one in work. */
  readonly requests: readonly number[];
}

/**
 * Give out the markers of one request: the only place that does.
 *
 * A marker is worth the tokens before it times how likely the next call begins with them and finds them by no other
 * marker. Pure; deterministic; never more than the provider's limit.
 */
export function allocate(
  request: Pick<ModelRequest, 'instructions' | 'gallery' | 'tools' | 'messages'>,
  { past, requests }: Ends,
  profile: CacheProfile,
  long = false,
): Allocation {
  if (profile.kind !== 'explicit') return { placed: [], left: [] };
  const { messages, instructions, gallery = '', tools } = request;
  const head = roughTokens(instructions.length + gallery.length + catalogueText(tools).length);
  const sizes = runningSizes(messages);
  const upTo = (count: number): number => head + roughTokens(sizes[count] ?? 0);
  const at = (place: CheckpointPlace, count: number, weight: number): Candidate[] =>
    count < 1 || count > messages.length
      ? []
      : [{ place, message: count - 1, long, tokens: upTo(count), value: upTo(count) * weight }];
  // Of the last turn's last request, the answer came after.
  const lastTail = requests.at(-1) ?? past;
  const isFar = blocksOf(messages.slice(lastTail)) >= profile.lookBack;
  const preTail = requests.length < PRE_TAIL_LEAST ? 0 : (requests.at(-PRE_TAIL_OFFSET) ?? requests[0] ?? 0);
  const candidates: Candidate[] = [
    // Every conversation with this agent begins so, and what is cut from a transcript leaves it whole.
    ...(head === 0
      ? []
      : [{ place: 'instructions' as const, long, tokens: head, value: head + upTo(messages.length) * 0.9 }]),
    ...at('past', past, 0.6),
    ...at('pre_tail', preTail, 0.3),
    // A provider looks back over so many blocks and no further: without it nothing of before would be found.
    ...(isFar ? at('last_tail', lastTail, 0.95) : []),
    ...at('tail', messages.length, 1),
  ];
  return choose(distinct(candidates), profile);
}

function choose(candidates: readonly Candidate[], { markers, leastTokens }: CacheProfile): Allocation {
  const left: Allocation['left'][number][] = [];
  const long = candidates.filter(({ place, tokens }) => {
    if (tokens >= leastTokens) return true;
    left.push({ place, why: `about ${tokens} tokens; the provider caches from ${leastTokens} on` });
    return false;
  });
  const ranked = [...long].sort((one, other) => other.value - one.value);
  const chosen = new Set(ranked.slice(0, markers));
  for (const { place } of ranked.slice(markers)) left.push({ place, why: `the provider takes ${markers} markers` });
  const placed = long
    .filter((one) => chosen.has(one))
    .map(({ place, message, long: isLong }) => ({
      place,
      long: isLong,
      ...(message === undefined ? {} : { message }),
    }));
  // Equal lifetimes throughout: a provider refuses a long one after a short one.
  return { placed, left };
}

/** One marker a place: of two at the same message, the one that is worth more. In the order of the prompt. */
function distinct(candidates: readonly Candidate[]): readonly Candidate[] {
  const best = new Map<number, Candidate>();
  for (const one of candidates) {
    const at = one.message ?? -1;
    const known = best.get(at);
    if (known === undefined || known.value < one.value) best.set(at, one);
  }
  return [...best.entries()].sort(([left], [right]) => left - right).map(([, one]) => one);
}

const sizes = new WeakMap<Message, number>();

/** Characters of the first n messages, for every n. Each message is measured once. */
function runningSizes(messages: readonly Message[]): readonly number[] {
  const running = [0];
  let sum = 0;
  for (const message of messages) {
    let size = sizes.get(message);
    if (size === undefined) sizes.set(message, (size = messageText(message).length));
    running.push((sum += size));
  }
  return running;
}

/** Blocks as a provider counts them. */
function blocksOf(messages: readonly Message[]): number {
  return messages.reduce((sum, one) => sum + (one.role === 'tool' ? one.results.length : one.content.length), 0);
}
