import type { Instant } from '../base/clock.ts';
import type { EffectiveAgent, ModelRef } from '../domain/agent.ts';
import { cacheProfile, roughTokens } from '../domain/cache-profile.ts';
import type { CacheMark, Conversation } from '../domain/conversation.ts';
import { promptTools } from '../domain/deferred.ts';
import type { ToolDefinition } from '../domain/tool.ts';
import type { Usage } from '../domain/usage.ts';
import { isAlive, warmth } from './cache.ts';
import { catalogueText } from './message-text.ts';

/** How a narrowing reaches the model. */
export type Realisation =
  /** The whole catalogue, and the names that may be called beside it. */
  | 'mask'
  /** The whole catalogue; announce says what is out, and dispatch refuses it. */
  | 'announce'
  /** It was in no prompt: a search finds it from now on, or does not. */
  | 'defer'
  /** The catalogue without it. */
  | 'remove';

/** What a change costs the prompt cache of one conversation, told before it is made. */
export interface Consequence {
  /** `from`: everything from `section` on is cold. `all`: nothing of the prompt is read. */
  readonly kind: 'free' | 'from' | 'all';
  readonly section?: 'model' | 'tools' | 'instructions' | 'gallery' | undefined;
  readonly realisation?: Realisation | undefined;
  /** Cached tokens that have to be written anew. */
  readonly tokens: number;
  /** US dollars, as decimal text; undefined is unknown, which is not free. */
  readonly money: { readonly rebuild: string | undefined; readonly instead: string | undefined } | undefined;
  /** What this holds for. */
  readonly assumes: {
    /** Until when the cache lives, if nobody uses it; after that the change is free. */
    readonly warmUntil?: Instant | undefined;
    readonly prices: 'list' | 'configured' | 'unknown';
  };
}

/** What a call of this model would cost, and by which prices. */
export type Pricing = (
  model: Pick<ModelRef, 'provider' | 'model'>,
  usage: Usage,
) => { readonly cost: string | undefined; readonly basis: 'list' | 'configured' | 'unknown' };

export interface Warmth {
  readonly conversation: Pick<Conversation, 'cached' | 'turns' | 'turn'>;
  readonly now: Instant;
}

/**
 * What becomes of a warm prompt when one agent takes the place of the other. Pure.
 *
 * A conversation without turns, or whose cache is cold, has nothing to lose. Tools come first on the wire, so another
 * catalogue leaves nothing to read.
 */
export function consequence(
  before: EffectiveAgent,
  after: EffectiveAgent,
  { conversation, now }: Warmth,
  price: Pricing,
): Consequence {
  const mark = warmth(conversation, now);
  const realisation = realisationOf(before, after);
  const free: Consequence = {
    kind: 'free',
    ...(realisation === undefined ? {} : { realisation }),
    tokens: 0,
    money: undefined,
    assumes: { prices: 'unknown' },
  };
  if (mark === undefined) return free;
  const section = firstDifferent(before, after, mark);
  if (section === undefined) return { ...free, assumes: { warmUntil: mark.at + mark.livesMs, prices: 'unknown' } };
  const [model = mark] = after.models;
  const kept = keptTokens(section, after, conversation.cached, model, now);
  const tokens = Math.max(0, mark.tokens - kept);
  if (tokens === 0) return { ...free, section, assumes: { warmUntil: mark.at + mark.livesMs, prices: 'unknown' } };
  const written = price(model, writing(model, tokens, after.cacheTtl === 'long'));
  return {
    kind: kept === 0 ? 'all' : 'from',
    section,
    ...(realisation === undefined ? {} : { realisation }),
    tokens,
    money: { rebuild: written.cost, instead: price(mark, { cacheRead: tokens }).cost },
    assumes: { warmUntil: mark.at + mark.livesMs, prices: written.basis },
  };
}

function firstDifferent(before: EffectiveAgent, after: EffectiveAgent, mark: CacheMark): Consequence['section'] {
  const [model] = after.models;
  if (model !== undefined && (model.provider !== mark.provider || model.model !== mark.model)) return 'model';
  if (catalogue(before) !== catalogue(after)) return 'tools';
  if (before.instructions !== after.instructions) return 'instructions';
  return before.gallery === after.gallery ? undefined : 'gallery';
}

/** Tokens that would still be read: what comes before the first difference, or what another model's cache holds. */
function keptTokens(
  section: NonNullable<Consequence['section']>,
  after: EffectiveAgent,
  cached: readonly CacheMark[],
  model: Pick<ModelRef, 'provider' | 'model'>,
  now: Instant,
): number {
  if (section === 'model') {
    const own = cached.find((one) => one.provider === model.provider && one.model === model.model);
    return own !== undefined && isAlive(own, now) ? own.tokens : 0;
  }
  const { kind, block, leastTokens } = cacheProfile(model);
  // Where markers are wanted, none stands before the gallery.
  if (section === 'tools' || kind === 'explicit') return 0;
  const instructions = section === 'gallery' ? after.instructions.length : 0;
  const tokens = Math.floor(roughTokens(catalogue(after).length + instructions) / block) * block;
  return tokens < leastTokens ? 0 : tokens;
}

function writing(model: Pick<ModelRef, 'provider'>, tokens: number, long: boolean): Usage {
  if (cacheProfile(model).kind !== 'explicit') return { input: tokens };
  return long ? { cacheWriteLong: tokens } : { cacheWrite: tokens };
}

/** How a difference in what may be called reaches the model; undefined where there is none. */
function realisationOf(before: EffectiveAgent, after: EffectiveAgent): Realisation | undefined {
  const names = (tools: readonly ToolDefinition[]): string => tools.map(({ name }) => name).join();
  if (names(before.tools) === names(after.tools)) return undefined;
  if (catalogue(before) !== catalogue(after) || textOf(before) !== textOf(after)) return 'remove';
  if (names(promptTools(before.tools)) === names(promptTools(after.tools))) return 'defer';
  const [model] = after.models;
  return model !== undefined && cacheProfile(model).masks && after.deferral !== 'provider' ? 'mask' : 'announce';
}

function textOf({ instructions, gallery = '' }: EffectiveAgent): string {
  return instructions + gallery;
}

const texts = new WeakMap<EffectiveAgent, string>();

/** The catalogue as it goes to the provider; the json grammar has it in its instructions. */
function catalogue(agent: EffectiveAgent): string {
  let text = texts.get(agent);
  if (text === undefined) {
    text = agent.grammar === 'json' ? '' : catalogueText(agent.listed ?? agent.tools);
    texts.set(agent, text);
  }
  return text;
}

/** The same change for several conversations at once: the sum, and the dearest kind. */
export function sumOf(consequences: readonly Consequence[], add: (amounts: readonly string[]) => string): Consequence {
  const costly = consequences.filter(({ kind }) => kind !== 'free');
  const [first] = costly.length === 0 ? consequences : costly;
  if (first === undefined || costly.length <= 1) return first ?? NOTHING;
  const amounts = (pick: 'rebuild' | 'instead'): string | undefined => {
    const all = costly.map(({ money }) => money?.[pick]);
    return all.some((one) => one === undefined) ? undefined : add(all.filter((one) => one !== undefined));
  };
  return {
    ...first,
    kind: costly.some(({ kind }) => kind === 'all') ? 'all' : 'from',
    tokens: costly.reduce((sum, { tokens }) => sum + tokens, 0),
    money: { rebuild: amounts('rebuild'), instead: amounts('instead') },
    assumes: {
      ...first.assumes,
      warmUntil: Math.max(...costly.map(({ assumes }) => assumes.warmUntil ?? 0)),
    },
  };
}

const NOTHING: Consequence = { kind: 'free', tokens: 0, money: undefined, assumes: { prices: 'unknown' } };
