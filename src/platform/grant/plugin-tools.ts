import { matchesGlob } from '../../base/glob.ts';
import type { Path } from '../../assembly/resolve.ts';
import type { Plugin } from '../../kernel/plugin.ts';
import type { ActivePlugin } from '../bundle/active-plugins.ts';
import { allPlugins } from '../bundle/all-plugins.ts';
import type { Declared } from '../bundle/declare.ts';
import { didYouMean, type Notices } from '../bundle/problems.ts';

/** Says which names of tools in plugins' configurations are of no tool: a rule about it would never count. */
export function checkPluginTools(
  { place, written }: Pick<Declared, 'place' | 'written'>,
  active: readonly ActivePlugin[],
  tools: readonly string[],
  notices: Notices,
): void {
  for (const { id, config, at } of active) {
    const plugin: Plugin | undefined = allPlugins.find((one) => one.id === id);
    const parsed = plugin?.config.safeParse(config);
    if (plugin?.tools === undefined || parsed?.success !== true) continue; // what is wrong with it has been told
    for (const name of new Set(plugin.tools(parsed.data))) {
      if (tools.some((tool) => matchesGlob(name, tool))) continue;
      const hint = /[*?\\]/.test(name) ? undefined : didYouMean(name, tools);
      const said = at === undefined ? undefined : writtenIn(config, at, name, written);
      const text = `${JSON.stringify(said ?? name)} is the name of no tool of this bundle${hint === undefined ? '' : `; ${hint}`}`;
      notices.add(place(['plugins', id]), text);
    }
  }
}

/** What the file writes where a variable stands for a text of a configuration: its value may be a secret. */
function writtenIn(value: unknown, at: Path, text: string, written: Declared['written']): string | undefined {
  if (value === text) return written(at);
  if (typeof value !== 'object' || value === null) return undefined;
  const parts = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [key, part] of parts) {
    const found = writtenIn(part, [...at, key], text, written);
    if (found !== undefined) return found;
  }
  return undefined;
}
