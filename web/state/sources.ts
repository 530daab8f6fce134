import { marked, type Token } from 'marked';
import type { Json } from '../api/types.ts';
import { dataOf, type Turn } from './entries.ts';

/** A page that an answer names, or that an action brought. */
export interface Source {
  readonly url: string;
  readonly title: string;
  readonly host: string;
  /** The answer itself links to it. */
  readonly isCited: boolean;
}

/** So many values of one result are looked at. */
const MOST_VALUES = 2_000;
const MOST_SOURCES = 100;

/** The sources of a turn: first those that the answer names, in its order, then what its actions brought. */
export function sourcesOf({ answer, work }: Pick<Turn, 'answer' | 'work'>): readonly Source[] {
  const cited = answer === undefined ? [] : linksOf(answer.text);
  const brought = work.flatMap((entry) => {
    const observation = dataOf(entry, 'action')?.observation;
    if (observation === undefined) return [];
    const parts = observation.content?.flatMap((part) =>
      part.type === 'text'
        ? addressesIn(part.text)
        : part.url === undefined
          ? []
          : [{ url: part.url, title: part.name }],
    );
    return [...pagesIn(observation.value), ...(parts ?? [])];
  });
  const titles = new Map<string, string>();
  for (const { url, title } of brought)
    if (title !== undefined && !titles.has(keyOf(url))) titles.set(keyOf(url), title);
  const sources = new Map<string, Source>();
  for (const [index, { url, title }] of [...cited, ...brought].entries()) {
    const key = keyOf(url);
    if (!isWeb(url) || sources.has(key) || sources.size >= MOST_SOURCES) continue;
    const { host } = new URL(url);
    sources.set(key, { url, title: titles.get(key) ?? title ?? host, host, isCited: index < cited.length });
  }
  return [...sources.values()];
}

/** The number under which an address is listed, from 1. */
export function numbersOf(sources: readonly Source[]): ReadonlyMap<string, number> {
  return new Map(sources.map(({ url }, index) => [keyOf(url), index + 1]));
}

/** Two addresses that differ in their fragment are one page. */
export function keyOf(url: string): string {
  return url.replace(/#.*$/, '').replace(/\/$/, '');
}

interface Found {
  readonly url: string;
  readonly title: string | undefined;
}

function linksOf(markdown: string): readonly Found[] {
  const found: Found[] = [];
  void marked.walkTokens(marked.lexer(markdown), (token: Token) => {
    if (token.type !== 'link') return;
    const { href, text } = token as { readonly href: string; readonly text: string }; // what a link token has
    found.push({ url: href, title: text === href || text === '' ? undefined : text });
  });
  return found;
}

/** Objects with an address, as search results and fetched pages are; and values that are an address. */
function pagesIn(value: Json): readonly Found[] {
  const found: Found[] = [];
  const queue: Json[] = [value];
  for (let looked = 0; looked < MOST_VALUES && queue.length > 0; looked++) {
    const at = queue.shift();
    if (typeof at === 'string') {
      if (/^https?:\/\/\S+$/.test(at)) found.push({ url: at, title: undefined });
    } else if (Array.isArray(at))
      queue.push(...(at as readonly Json[])); // whatever it lists
    else if (typeof at === 'object' && at !== null) {
      const fields = at as Readonly<Record<string, Json>>; // an object that is no list
      const url = textOf(fields['url'], fields['link'], fields['href'], fields['uri'], fields['source']);
      if (url !== undefined && isWeb(url)) found.push({ url, title: textOf(fields['title'], fields['name']) });
      queue.push(...Object.values(fields));
    }
  }
  return found;
}

function addressesIn(text: string): readonly Found[] {
  return [...text.slice(0, 100_000).matchAll(/https?:\/\/[^\s<>"'`)\]}]+/g)].map(([url]) => ({
    url: url.replace(/[.,;:!?]+$/, ''),
    title: undefined,
  }));
}

function isWeb(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function textOf(...values: readonly Json[]): string | undefined {
  return values.find((one) => typeof one === 'string' && one.trim() !== '') as string | undefined; // looked at just now
}
