import type { Instant } from '../base/clock.ts';
import { cacheProfile, roughTokens } from '../domain/cache-profile.ts';
import type { CacheMark, Conversation, Turn } from '../domain/conversation.ts';
import type { FactPayload } from '../domain/event.ts';
import type { ModelRequest } from '../domain/model.ts';
import type { Usage } from '../domain/usage.ts';
import { allocate } from './checkpoints.ts';
import { catalogueText } from './message-text.ts';
import {
  changedSections,
  firstChanged,
  sectionDigests,
  type CachedSection,
  type SectionDigests,
} from './prompt-digest.ts';
import { endsOf } from './transcript.ts';

/** What a provider still holds of a conversation's prompt, as far as the log can tell: of the model that answered last. */
export function warmth({ cached }: Pick<Conversation, 'cached'>, now: Instant): CacheMark | undefined {
  const mark = cached.at(-1);
  return mark !== undefined && mark.tokens > 0 && isAlive(mark, now) ? mark : undefined;
}

/** True when nothing of a conversation's prompt would be read from a provider's cache now. */
export function isCold(conversation: Pick<Conversation, 'cached'>, now: Instant): boolean {
  return warmth(conversation, now) === undefined;
}

/** A clock that was put back makes a mark younger than it is, never older: nobody pays for a mistake of a clock unasked. */
export function isAlive({ at, livesMs }: CacheMark, now: Instant): boolean {
  return now - at <= livesMs;
}

/** What the log is told of a call's cache before the call. */
export type CacheIntent = Pick<FactPayload<'llm.request'>, 'sections' | 'expectedRead' | 'markers' | 'unmarked'>;

/** A request with its checkpoints, and what can be said of it before it is sent. `revised`: a gate changed its messages. */
export function withCheckpoints(
  conversation: Conversation,
  turn: Turn,
  request: ModelRequest,
  now: Instant,
  revised: boolean,
): { readonly request: ModelRequest; readonly intent: CacheIntent; readonly digests: SectionDigests } {
  const digests = sectionDigests(conversation, request, turn.agent, revised);
  const sections = changedSections(conversation, digests);
  const profile = cacheProfile(request.model);
  if (profile.kind === 'unknown') return { request, digests, intent: sections === undefined ? {} : { sections } };
  const expected = expectedRead(conversation, request, digests, now);
  // Where a gate has put other messages in, nobody knows where turns end.
  const ends = revised ? { past: 0, requests: [] } : endsOf(conversation, request.model);
  const { placed, left } = allocate(request, ends, profile, turn.agent.cacheTtl === 'long');
  return {
    request: placed.length === 0 ? request : { ...request, checkpoints: placed },
    digests,
    intent: {
      ...(sections === undefined ? {} : { sections }),
      expectedRead: expected,
      ...(placed.length === 0 ? {} : { markers: placed.map(({ place }) => place) }),
      ...(left.length === 0 ? {} : { unmarked: left.map(({ place, why }) => `${place}: ${why}`) }),
    },
  };
}

/** Tokens that a cache should give: by what was sent before, not by what was read last. */
function expectedRead(
  conversation: Conversation,
  request: ModelRequest,
  digests: SectionDigests,
  now: Instant,
): number {
  const { provider, model } = request.model;
  const mark = conversation.cached.find((one) => one.provider === provider && one.model === model);
  if (mark === undefined || !isAlive(mark, now)) return 0;
  const section = firstChanged(conversation, request.model, mark, digests);
  if (section === undefined) return mark.tokens;
  const { kind, leastTokens, block } = cacheProfile(request.model);
  if (section === 'tools' || (kind === 'explicit' && isHead(section))) return 0;
  const instructions = section === 'instructions' ? 0 : request.instructions.length;
  const lists = isHead(section) ? 0 : (request.gallery?.length ?? 0);
  const head = roughTokens(catalogueText(request.tools).length + instructions + lists);
  return head < leastTokens ? 0 : Math.min(mark.tokens, Math.floor(head / block) * block);
}

/** Sections before all messages, which have one marker together where markers are wanted. */
function isHead(section: CachedSection): boolean {
  return section === 'tools' || section === 'instructions' || section === 'gallery';
}

/**
 * Why a prompt that was warm, or would have been, was read from no cache: the finding for the log, or undefined when it
 * was read as an unchanged prompt would have been.
 */
export function coldFinding(
  conversation: Conversation,
  turn: Turn,
  request: Pick<ModelRequest, 'model' | 'announce'>,
  digests: SectionDigests,
  usage: Usage,
  sentAt: Instant,
): FactPayload<'cache.cold'> | undefined {
  const mark = conversation.cached.at(-1);
  const billed = usage.cacheRead;
  if (mark === undefined || billed === undefined) return undefined;
  const { block } = cacheProfile(request.model);
  // How much of the tail was not cached is only known roughly.
  const slack = block + roughTokens(request.announce?.length ?? 0) / 2;
  if (mark.tokens - billed <= slack) return undefined;
  const told = { predicted: mark.tokens, billed };
  if (!isAlive(mark, sentAt)) {
    const what = `nothing was sent for ${minutes(sentAt - mark.at)}; the cache keeps it for ${minutes(mark.livesMs)}`;
    return { what, ...told, cause: 'expired' };
  }
  const { provider, model } = request.model;
  if (provider !== mark.provider || model !== mark.model) {
    const change = conversation.selection?.digest === mark.selection ? 'model' : 'selection';
    const what = `another model: ${provider}/${model} after ${mark.provider}/${mark.model}`;
    return { what, ...told, cause: 'ours', section: 'model', change };
  }
  const section = firstChanged(conversation, request.model, mark, digests);
  if (section === undefined) {
    return { what: 'the prompt begins as it did, and the provider read less of it', ...told, cause: 'unknown' };
  }
  const change = changeOf(section, conversation, turn, mark);
  const by = change === undefined ? '' : `, by ${CHANGE_IN_WORDS[change]}`;
  const what = `${SECTION_IN_WORDS[section]} changed${by}`;
  return { what, ...told, cause: 'ours', section, ...(change === undefined ? {} : { change }) };
}

type Change = NonNullable<FactPayload<'cache.cold'>['change']>;

const SECTION_IN_WORDS: Readonly<Record<CachedSection, string>> = {
  tools: 'the tools',
  instructions: 'the instructions',
  gallery: 'the lists of skills and services',
  past: 'the earlier turns',
  turn: 'the messages of this turn',
};

const CHANGE_IN_WORDS: Readonly<Record<Change, string>> = {
  model: 'a change of the model',
  selection: 'a choice of the user',
  bundle: 'an edit of the bundle',
  compaction: 'a summary in their place',
  clearing: 'old results that were cleared',
  gate: 'a gate',
};

function changeOf(
  section: CachedSection,
  { selection, summary, cleared }: Conversation,
  turn: Turn,
  mark: CacheMark,
): Change | undefined {
  if (section === 'turn') return isClearedIn(cleared, turn.id) ? 'clearing' : 'gate';
  if (section === 'past')
    return cleared.size > mark.cleared ? 'clearing' : summary === undefined ? undefined : 'compaction';
  if (turn.agent.revision !== mark.revision) return 'bundle';
  return selection?.digest === mark.selection ? undefined : 'selection';
}

function isClearedIn(cleared: Conversation['cleared'], turnId: string): boolean {
  return [...cleared].some((id) => id.startsWith(`${turnId}-`));
}

function minutes(ms: number): string {
  return ms < 60_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;
}
