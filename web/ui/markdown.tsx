import { marked } from 'marked';
import { createContext, memo, use, useMemo, type ComponentProps } from 'react';
import ReactMarkdown, { type Options } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import remend from 'remend';
import { ImagesMayCome } from '../state/images.ts';
import { withFormulas } from '../state/formulas.ts';
import { keyOf } from '../state/sources.ts';
import { useCodeColours } from './code-colours.ts';
import { CopyButton } from './copy-button.tsx';
import { directions } from './directions.ts';
import { useMath } from './math.ts';
import { RemoteImage } from './remote-image.tsx';

/** Under which number an address is listed below the text. */
export const SourceNumbers = createContext<ReadonlyMap<string, number>>(new Map());

/** Addresses and notes that are named in one block and told in another: such a text is drawn as a whole once it is there. */
const NAMED = /^ {0,3}\[[^\]\n]+\]:/m;

const DIRECTED: NonNullable<Options['rehypePlugins']> = [directions];
const GFM: NonNullable<Options['remarkPlugins']> = [remarkGfm];

/**
 * Markdown of a model: untrusted. HTML in it stays text, links to scripts lose their address, and no image is
 * fetched before a person agrees.
 *
 * It is drawn block by block, so that while it streams only the one at the end is drawn anew. What is not closed yet is closed.
 */
export const Markdown = memo(function Markdown({
  text,
  isStreaming = false,
}: {
  readonly text: string;
  readonly isStreaming?: boolean;
}) {
  const told = useMemo(() => withFormulas(text), [text]);
  const blocks = useMemo(
    () => (isStreaming || !NAMED.test(told) ? marked.lexer(isStreaming ? remend(told) : told) : undefined),
    [told, isStreaming],
  );
  return (
    <div className="markdown">
      <ImagesMayCome value={!isStreaming}>
        {blocks?.map((block, index) => (
          <Block key={index} text={block.raw} isOpen={isStreaming && index === blocks.length - 1} />
        )) ?? <Block text={told} />}
      </ImagesMayCome>
    </div>
  );
});

/** `isOpen`: more of it comes with every frame, so it is coloured once it is whole. */
const Block = memo(function Block({ text, isOpen = false }: { readonly text: string; readonly isOpen?: boolean }) {
  const math = useMath(text);
  const colours = useCodeColours(isOpen ? '' : text);
  const rehype = [
    ...DIRECTED,
    ...(math === undefined ? [] : [math.rehype]),
    ...(colours === undefined ? [] : [colours]),
  ];
  return (
    <ReactMarkdown
      remarkPlugins={math === undefined ? GFM : [...GFM, math.remark]}
      rehypePlugins={rehype}
      components={components}
    >
      {text}
    </ReactMarkdown>
  );
});

type Plain<T extends keyof React.JSX.IntrinsicElements> = ComponentProps<T> & { node?: unknown };

const components = {
  // Headings of an answer stand below the page's own.
  h1: 'h2',
  h2: 'h3',
  h3: 'h4',
  h4: 'h5',
  h5: 'h6',
  h6: 'h6',
  a: ({ href, children }: Plain<'a'>) => <NumberedLink href={href}>{children}</NumberedLink>,
  img: ({ src, alt }: Plain<'img'>) => (
    <RemoteImage key={String(src)} src={typeof src === 'string' ? src : undefined} alt={alt ?? 'image'} />
  ),
  table: ({ children }: Plain<'table'>) => (
    <div className="table-frame" tabIndex={0} role="region" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  pre: ({ children }: Plain<'pre'>) => {
    const text = textOf(children);
    return (
      <div className="code-frame">
        <div className="code-head">
          <span>{languageOf(children)}</span>
          <CopyButton text={text} label="Copy code" />
        </div>
        <pre tabIndex={0}>{children}</pre>
      </div>
    );
  },
} as const;

function NumberedLink({ href, children }: { readonly href: string | undefined; readonly children: React.ReactNode }) {
  const number = use(SourceNumbers).get(keyOf(href ?? ''));
  return (
    <a href={href} target="_blank" rel="noreferrer noopener nofollow">
      {children}
      {number === undefined ? null : <sup className="source-mark">{number}</sup>}
    </a>
  );
}

/** What the answer calls the language of a piece of code. */
function languageOf(children: unknown): string | undefined {
  if (typeof children !== 'object' || children === null || !('props' in children)) return undefined;
  const { props } = children as { props: { className?: unknown } }; // a React element
  return /language-(\S+)/.exec(String(props.className))?.[1];
}

function textOf(children: unknown): string {
  if (typeof children === 'string') return children;
  if (Array.isArray(children)) return children.map(textOf).join('');
  if (typeof children === 'object' && children !== null && 'props' in children) {
    const { props } = children as { props: { children?: unknown } }; // a React element
    return textOf(props.children);
  }
  return '';
}
