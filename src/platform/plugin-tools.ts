import { matchesGlob } from '../base/glob.ts';
import type { Plugin } from '../kernel/plugin.ts';
import type { ActivePlugin } from './active-plugins.ts';
import { allPlugins } from './all-plugins.ts';
import type { Declared } from './declare.ts';
import { didYouMean, type Notices } from './problems.ts';

/** Says which names of tools in plugins' configurations are of no tool: a rule about it would never count. */
export function checkPluginTools(
  { place }: Pick<Declared, 'place'>,
  active: readonly ActivePlugin[],
  tools: readonly string[],
  notices: Notices,
): void {
  for (const { id, config } of active) {
    const plugin: Plugin | undefined = allPlugins.find((one) => one.id === id);
    const parsed = plugin?.config.safeParse(config);
    if (plugin?.tools === undefined || parsed?.success !== true) continue; // what is wrong with it has been told
    for (const name of new Set(plugin.tools(parsed.data))) {
      if (tools.some((tool) => matchesGlob(name, tool))) continue;
      const hint = /[*?\\]/.test(name) ? undefined : didYouMean(name, tools);
      const text = `${JSON.stringify(name)} is the name of no tool of this bundle${hint === undefined ? '' : `; ${hint}`}`;
      notices.add(place(['plugins', id]), text);
    }
  }
}
