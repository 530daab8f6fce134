import type { z } from 'zod';
import { AGENT_PLUGIN, PLUGIN_PREFIX, type Bundle } from '../../domain/bundle.ts';
import { isObject } from '../../base/json.ts';
import type { Path } from '../../assembly/resolve.ts';
import { checkConfig } from './check-config.ts';
import type { Declared } from './declare.ts';
import { didYouMean, oneOf, type Problems } from './problems.ts';

/** A plugin that is to be installed, with its configuration as the bundle writes it. */
export interface ActivePlugin {
  readonly id: string;
  readonly config: unknown;
  /** Stands over the plugin's own priorities. */
  readonly priority?: number | undefined;
  /** Where the bundle configures it. Absent: it does not. */
  readonly at?: Path | undefined;
}

export interface KnownPlugins {
  /** By id: what the plugin can be configured with. */
  readonly configs: ReadonlyMap<string, z.ZodType>;
  /** Ids that are active without being named. */
  readonly byDefault: ReadonlySet<string>;
}

/** Part of the loop itself: naming them is right and changes nothing. */
const BUILT_IN: ReadonlySet<string> = new Set(['control.cancel', 'skills', AGENT_PLUGIN]);

/** Plugins of the design that this version does not bring. */
const LATER: ReadonlySet<string> = new Set(['memory.longterm', 'memory.simple', 'control.hitl']);

/** Which plugins a bundle activates, and with what. Names that nobody has are added to `problems`. */
export function activePlugins(
  { bundle, place, quoted, written }: Pick<Declared, 'bundle' | 'place' | 'quoted' | 'written'>,
  { configs, byDefault }: KnownPlugins,
  problems: Problems,
): readonly ActivePlugin[] {
  const active = new Set([...byDefault].filter((id) => configs.has(id)));
  const configured = Object.entries(bundle.plugins ?? {}).filter(
    ([key]) => key !== 'active' && shortId(key) !== AGENT_PLUGIN,
  );
  const known = [...configs.keys(), ...BUILT_IN];
  const check = (name: string, path: Path): string | undefined => {
    const id = shortId(name);
    if (configs.has(id) || BUILT_IN.has(id)) return id;
    if (LATER.has(id)) {
      const hint = `remove it; there is ${known.join(', ')}`;
      problems.add('bundle_not_supported', {
        place: place(path),
        found: `${id}, a plugin that is not supported yet`,
        hint,
      });
    } else {
      const hint = didYouMean(id, known);
      const wanted = hint === undefined ? oneOf(known) : undefined;
      problems.add('bundle_unknown_name', {
        place: place(path),
        found: `no plugin ${quoted(path, name)}`,
        wanted,
        hint,
      });
    }
    return undefined;
  };
  for (const [index, name] of (bundle.plugins?.active ?? []).entries()) {
    const id = check(name, ['plugins', 'active', index]);
    if (id !== undefined && configs.has(id)) active.add(id);
  }
  const given = new Map<string, Path>();
  for (const [name, config] of configured) {
    const path = ['plugins', name];
    const id = check(name, path);
    if (id === undefined) continue;
    const first = given.get(id);
    if (first !== undefined) {
      const found = `${id} a second time, first at ${place(first)}`;
      problems.add('bundle_conflict', { place: place(path), found, wanted: 'one configuration' });
    } else if (BUILT_IN.has(id) && (!isObject(config) || Object.keys(config).length > 0)) {
      problems.add('plugin_config', {
        place: place(path),
        found: `keys for ${id}`,
        wanted: 'none, because it has none',
      });
    } else if (configs.has(id) && !active.has(id)) {
      const hint = `add ${id} to plugins.active, or remove this`;
      problems.add('bundle_conflict', { place: place(path), found: `keys for ${id}, which is not active`, hint });
    }
    given.set(id, path);
  }
  return [...active].map((id) => {
    const path = given.get(id);
    const config: unknown = path === undefined ? {} : (bundle.plugins?.[String(path[1])] ?? {});
    checkPlugin(id, config, path, configs.get(id), { place, written, problems, bundle });
    return { id, config, at: path };
  });
}

/** The id without the prefix of the system it comes from. */
function shortId(name: string): string {
  return name.startsWith(PLUGIN_PREFIX) ? name.slice(PLUGIN_PREFIX.length) : name;
}

function checkPlugin(
  id: string,
  config: unknown,
  path: Path | undefined,
  schema: z.ZodType | undefined,
  { bundle, ...where }: Pick<Declared, 'place' | 'written'> & { problems: Problems; bundle: Bundle },
): void {
  if (schema === undefined) return;
  const listed = bundle.plugins?.active?.findIndex((name) => shortId(name) === id) ?? -1;
  const base: Path = listed < 0 ? ['plugins'] : ['plugins', 'active', listed];
  const absent = { path: base, isAbsent: true, hint: `write it under plugins: ${id}: {…}` };
  checkConfig(config, schema, {
    ...where,
    code: 'plugin_config',
    what: id,
    ...(path === undefined ? absent : { path }),
  });
}
