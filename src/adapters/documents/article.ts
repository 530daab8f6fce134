import { optionalPackage } from '../modules/optional-package.ts';
import { markdownOf } from './markdown.ts';

export interface Article {
  readonly title: string | undefined;
  readonly byline: string | undefined;
  /** As the page says it. */
  readonly published: string | undefined;
  readonly markdown: string;
  /** The page has no main text that could be told from the rest, so this is all of it. */
  readonly isWhole: boolean;
}

/** As much of a document as is looked at here. */
interface Page {
  readonly body: { readonly innerHTML: string };
  querySelector(selector: string): { readonly textContent: string | null } | null;
}

const NEEDS = ['@mozilla/readability', 'linkedom', 'unified', 'rehype-parse', 'rehype-stringify'];

/**
 * What a page says, without the menus around it.
 *
 * The text is found as Firefox finds it for its reader view. No script of the page runs and nothing that it names is
 * fetched. Throws `package_missing`.
 */
export async function readArticle(html: string, url: URL, { whole = false } = {}): Promise<Article> {
  const [{ Readability }, { parseHTML }, { unified }, { default: parse }, { default: write }] = await optionalPackage(
    () =>
      Promise.all([
        import('@mozilla/readability'),
        import('linkedom'),
        import('unified'),
        import('rehype-parse'),
        import('rehype-stringify'),
      ]),
    { purpose: 'reading web pages', needs: NEEDS },
  );
  // As a browser understands it, with the body that a page may leave out: linkedom takes tags as they stand.
  const parsed: unknown = parseHTML(String(await unified().use(parse).use(write).process(html)));
  const { document } = parsed as { document: Page }; // the package's own types name files that it does not ship
  const title = textOf(document.querySelector('title')?.textContent);
  const all = document.body.innerHTML;
  const found = whole
    ? null
    : new Readability(document as ConstructorParameters<typeof Readability>[0], { maxElemsToParse: 50_000 }).parse();
  const markdown = typeof found?.content !== 'string' ? '' : await markdownOf(found.content, url);
  const isWhole = markdown === '';
  return {
    title: textOf(found?.title) ?? title,
    byline: textOf(found?.byline),
    published: textOf(found?.publishedTime),
    markdown: isWhole ? await markdownOf(all, url) : markdown,
    isWhole,
  };
}

function textOf(value: string | null | undefined): string | undefined {
  const text = value?.replace(/\s+/g, ' ').trim();
  return text === '' ? undefined : text;
}
