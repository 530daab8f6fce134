import { useSyncExternalStore } from 'react';
import type { Options } from 'react-markdown';

type Plugin = NonNullable<Options['remarkPlugins']>[number];

export interface MathPlugins {
  readonly remark: Plugin;
  readonly rehype: Plugin;
}

let loaded: MathPlugins | undefined;
let isLoading = false;
const listeners = new Set<() => void>();

/** What renders formulas, once it has come. It is fetched with the first text that has one. */
export function useMath(text: string): MathPlugins | undefined {
  const hasMath = text.includes('$$');
  const plugins = useSyncExternalStore(subscribe, () => loaded);
  if (!hasMath) return undefined;
  if (!isLoading) void load();
  return plugins;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

async function load(): Promise<void> {
  isLoading = true;
  const [{ default: remark }, { default: katex }] = await Promise.all([
    import('remark-math'),
    import('rehype-katex'),
    import('katex/dist/katex.min.css'),
  ]);
  // A formula may not fetch or link to anything.
  loaded = {
    // One dollar is money; what is a formula between such was given two.
    remark: [remark, { singleDollarTextMath: false }],
    rehype: [katex, { trust: false, strict: 'ignore', maxExpand: 200 }],
  };
  for (const listener of listeners) listener();
}
