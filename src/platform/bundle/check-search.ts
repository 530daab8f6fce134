import { matchesGlob } from '../../base/glob.ts';
import { behaviourLevels, resolve } from '../../assembly/resolve.ts';
import { modelOf } from '../../assembly/roles.ts';
import type { ModelRef } from '../../domain/agent.ts';
import type { Grant } from '../../domain/grant.ts';
import { whyNoSearch } from '../../domain/provider-search.ts';
import { toolFilter } from '../../plugins/gates/tool-filter.ts';
import type { ActivePlugin } from './active-plugins.ts';
import { allPlugins } from './all-plugins.ts';
import type { Declared } from './declare.ts';
import type { Notices } from './problems.ts';

/** Says of which models the providers do not search the web by themselves, and which rules about such a search never count. */
export function checkSearch(
  { bundle, place }: Declared,
  agent: string,
  { grant, models, active, file }: CheckedSearch,
  notices: Notices,
): void {
  for (const { definition } of grant.tools) {
    const { name, native } = definition;
    if (native === undefined) continue;
    const grammar = resolve(behaviourLevels(bundle, agent), 'decision');
    if (grammar?.value === 'json') {
      notices.add(
        place(grammar.from),
        `decision: json leaves ${agent} without ${name}, which a provider does by itself`,
      );
      continue;
    }
    const supported = resolve(behaviourLevels(bundle, agent), 'supported_models')?.value ?? [];
    for (const model of [...models, ...supported.map(modelOf)]) {
      const why = model.provider === 'auto' ? 'may have no search of its own' : whyNoSearch(model, native);
      if (why !== undefined)
        notices.add(file, `${agent} has no ${name} with ${model.provider}/${model.model}, which ${why}`);
    }
    for (const { id, config } of active)
      if (id !== toolFilter.id && isAbout(id, config, name))
        notices.add(
          place(['plugins', id]),
          `${name} is done by the model's provider, so ${id} is not asked about it: take it out with ${toolFilter.id}`,
        );
  }
}

interface CheckedSearch {
  readonly grant: Grant;
  readonly models: readonly ModelRef[];
  readonly active: readonly ActivePlugin[];
  readonly file: string;
}

function isAbout(id: string, config: unknown, name: string): boolean {
  const plugin = allPlugins.find((one) => one.id === id);
  const parsed = plugin?.config.safeParse(config);
  if (plugin?.tools === undefined || parsed?.success !== true) return false;
  return plugin.tools(parsed.data).some((pattern) => matchesGlob(pattern, name));
}
