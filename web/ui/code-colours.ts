import type { Options } from 'react-markdown';
import { onceNeeded } from './once-needed.ts';

type Plugin = NonNullable<Options['rehypePlugins']>[number];

/** Beyond this many characters a text is drawn plain: colouring it would hold up the page for longer than it helps. */
const LONGEST = 100_000;

/** The start of a fence that names its language. What has none is not guessed at. */
const NAMED_FENCE = /^ {0,3}(?:`{3,}|~{3,}) *[\w+#.-]/m;

const useColours = onceNeeded(async (): Promise<Plugin> => {
  const { default: highlight } = await import('rehype-highlight');
  return [highlight, { detect: false }];
});

/** What colours pieces of code, once it has come. It is fetched with the first piece that names its language. */
export function useCodeColours(text: string): Plugin | undefined {
  return useColours(text.length <= LONGEST && NAMED_FENCE.test(text));
}
