import { optionalPackage } from '../modules/optional-package.ts';

const NEEDS = ['unified', 'rehype-parse', 'rehype-remark', 'remark-gfm', 'remark-stringify'];

/**
 * HTML as Markdown with tables, as a model reads it: links are absolute, pictures are their words, and what is no text
 * (scripts, styles, forms) is left out.
 *
 * Throws `package_missing`.
 */
export async function markdownOf(html: string, base?: URL): Promise<string> {
  const [{ unified }, { default: parse }, { default: toMarkdown }, { default: gfm }, { default: write }] =
    await optionalPackage(
      () =>
        Promise.all([
          import('unified'),
          import('rehype-parse'),
          import('rehype-remark'),
          import('remark-gfm'),
          import('remark-stringify'),
        ]),
      { purpose: 'reading HTML', needs: NEEDS },
    );
  const file = await unified()
    .use(parse, { fragment: true })
    .use(() => (tree) => {
      settle(tree, base);
    })
    .use(toMarkdown)
    .use(gfm)
    .use(write, { bullet: '-', emphasis: '_', rule: '-' })
    .process(html);
  return String(file).trim();
}

/** As much of a node of HTML as is looked at here. */
interface Node {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
}

const NO_TEXT = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'iframe',
  'object',
  'embed',
  'form',
  'svg',
  'canvas',
]);

function settle(node: Node, base: URL | undefined): void {
  if (node.children === undefined) return;
  node.children = node.children.filter(({ tagName }) => tagName === undefined || !NO_TEXT.has(tagName));
  for (const child of node.children) {
    if (child.tagName === 'img') picture(child);
    if (child.tagName === 'a') link(child, base);
    settle(child, base);
  }
}

/** A model cannot see it, and its address would only be one more to fetch. */
function picture(node: Node): void {
  const alt = node.properties?.['alt'];
  node.type = 'text';
  node.value = typeof alt === 'string' && alt.trim() !== '' ? `[picture: ${alt.trim()}]` : '';
  delete node.tagName;
  delete node.children;
}

/** Where it leads from this page; nowhere for what is no page, such as `javascript:`. */
function link(node: Node, base: URL | undefined): void {
  const { properties = {} } = node;
  const { href } = properties;
  const to = typeof href === 'string' ? URL.parse(href, base?.href) : null;
  const isPage = to !== null && ['http:', 'https:', 'mailto:'].includes(to.protocol);
  const isHere = to !== null && base !== undefined && to.hash !== '' && to.href.replace(to.hash, '') === base.href;
  if (isPage && !isHere) properties['href'] = to.href;
  else node.tagName = 'span';
}
