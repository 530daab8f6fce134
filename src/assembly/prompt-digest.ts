import { shortDigest } from '../base/digest.ts';
import type { EffectiveAgent } from '../domain/agent.ts';
import type { Conversation, Turn } from '../domain/conversation.ts';
import type { ModelRequest } from '../domain/model.ts';
import type { ToolDefinition } from '../domain/tool.ts';
import { catalogueText, messageText } from './message-text.ts';
import type { Target } from './iteration-messages.ts';
import { pastOf } from './transcript.ts';

/** The sections of a prompt that are cached, in the order in which they are on the wire: tools come first there. */
export const CACHED_SECTIONS = ['tools', 'instructions', 'gallery', 'past', 'turn'] as const;
export type CachedSection = (typeof CACHED_SECTIONS)[number];

/** By section, 16 hex digits. Absent: `gallery` and `past` where there are none, `turn` while nobody has touched what it is made of. */
export type SectionDigests = { readonly [S in CachedSection]?: string };

/** Digests of sections by the very value they were made of: instructions and catalogues change rarely, and are long. */
const catalogues = new WeakMap<readonly ToolDefinition[], string>();
const texts = new WeakMap<EffectiveAgent, Digested>();
const galleries = new WeakMap<EffectiveAgent, Digested>();

interface Digested {
  readonly text: string;
  readonly digest: string;
}

/** `revised`: a gate has put other messages in. */
export function sectionDigests(
  conversation: Conversation,
  request: ModelRequest,
  agent: EffectiveAgent,
  revised: boolean,
): SectionDigests {
  const past = pastDigest(conversation, request.model, conversation.turns.length);
  return {
    tools: catalogueDigest(request.tools),
    instructions: textDigest(request.instructions, agent, texts),
    ...(request.gallery === undefined ? {} : { gallery: textDigest(request.gallery, agent, galleries) }),
    ...(past === undefined ? {} : { past }),
    ...touched(conversation, request, revised),
  };
}

/** The digest of a turn that is not as it was made: a gate put other messages in, or results of it were cleared. */
function touched(
  { turn, cleared }: Conversation,
  { messages }: ModelRequest,
  revised: boolean,
): Pick<SectionDigests, 'turn'> {
  if (revised) return { turn: shortDigest(messages.map(messageText).join('\n')) };
  if (turn === undefined || cleared.size === 0) return {};
  const own = [...cleared].filter((id) => id.startsWith(`${turn.id}-`));
  return own.length === 0 ? {} : { turn: shortDigest(own.join()) };
}

/** What of the digests differs from what this conversation last sent; undefined when nothing does. */
export function changedSections(
  { sections }: Pick<Conversation, 'sections'>,
  digests: SectionDigests,
): Record<string, string> | undefined {
  let changed: Record<string, string> | undefined;
  for (const name of CACHED_SECTIONS) {
    const digest = digests[name] ?? (sections[name] === undefined ? undefined : UNTOUCHED);
    if (digest !== undefined && sections[name] !== digest) (changed ??= {})[name] = digest;
  }
  return changed;
}

/** In place of a digest: the section is as it was made again. */
const UNTOUCHED = '-';

/** The first section that makes a prompt another one than what was sent with `before`. */
export function firstChanged(
  conversation: Conversation,
  model: Target,
  before: { readonly sections: Readonly<Record<string, string>>; readonly turn: number },
  digests: SectionDigests,
): CachedSection | undefined {
  return CACHED_SECTIONS.find((name) => {
    const then = before.sections[name] ?? UNTOUCHED;
    // The past has grown by whole turns since: it is the same if it was the same up to there.
    const now = name === 'past' ? pastDigest(conversation, model, before.turn - 1) : digests[name];
    return then !== (now ?? UNTOUCHED);
  });
}

interface Link {
  readonly provider: string;
  readonly model: string;
  readonly summary: Conversation['summary'];
  readonly cleared: Conversation['cleared'];
  readonly digest: string;
}

/** By turn: the digest of everything up to its end. */
const links = new WeakMap<Turn, Link>();

/** The digest of the first `count` turns as a model is shown them: a chain, so that a turn is read once. */
export function pastDigest(conversation: Conversation, target: Target, count: number): string | undefined {
  const { turns, summary, cleared } = conversation;
  if (count === 0) return undefined;
  const { provider, model } = target;
  const isFor = (link: Link | undefined): link is Link =>
    link?.provider === provider && link.model === model && link.summary === summary && link.cleared === cleared;
  let known = Math.min(count, turns.length);
  let digest: string | undefined;
  for (; known > 0 && digest === undefined;) {
    const turn = turns.at(known - 1);
    const link = turn === undefined ? undefined : links.get(turn);
    if (isFor(link)) digest = link.digest;
    else known--;
  }
  for (let index = known; index < Math.min(count, turns.length); index++) {
    const turn = turns.at(index);
    if (turn === undefined) break;
    digest = shortDigest(`${digest ?? ''}\n${pastOf(conversation, target, index).map(messageText).join('\n')}`);
    links.set(turn, { provider, model, summary, cleared, digest });
  }
  return digest;
}

function textDigest(text: string, agent: EffectiveAgent, digested: WeakMap<EffectiveAgent, Digested>): string {
  const known = digested.get(agent);
  if (known?.text === text) return known.digest;
  const digest = shortDigest(text);
  digested.set(agent, { text, digest });
  return digest;
}

function catalogueDigest(tools: readonly ToolDefinition[]): string {
  let digest = catalogues.get(tools);
  if (digest === undefined) catalogues.set(tools, (digest = shortDigest(catalogueText(tools))));
  return digest;
}
