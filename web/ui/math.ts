import type { Options } from 'react-markdown';
import { onceNeeded } from './once-needed.ts';

type Plugin = NonNullable<Options['remarkPlugins']>[number];

export interface MathPlugins {
  readonly remark: Plugin;
  readonly rehype: Plugin;
}

const useFormulas = onceNeeded(async (): Promise<MathPlugins> => {
  const [{ default: remark }, { default: katex }] = await Promise.all([
    import('remark-math'),
    import('rehype-katex'),
    import('katex/dist/katex.min.css'),
  ]);
  return {
    // One dollar is money; what is a formula between such was given two.
    remark: [remark, { singleDollarTextMath: false }],
    // A formula may not fetch or link to anything.
    rehype: [katex, { trust: false, strict: 'ignore', maxExpand: 200 }],
  };
});

/** What renders formulas, once it has come. It is fetched with the first text that has one. */
export function useMath(text: string): MathPlugins | undefined {
  return useFormulas(text.includes('$$'));
}
