import type { Environment } from '../platform/bundle/environment.ts';
import type { LoadedBundle, LoadOptions } from '../platform/bundle/load.ts';

/** A bundle to look at, not to run. Throws what loading a bundle throws. */
export async function loadForReading(
  file: string,
  environment: Environment,
  more: Pick<LoadOptions, 'servers' | 'recorded'> = {},
): Promise<LoadedBundle> {
  const [{ loadBundle }, { builtinGroups }, { allPlugins }] = await Promise.all([
    import('../platform/bundle/load.ts'),
    import('../platform/bundle/builtins.ts'),
    import('../platform/bundle/all-plugins.ts'),
  ]);
  const plugins = new Map(allPlugins.map((one) => [one.id, one.config]));
  return loadBundle(file, { ...more, environment, builtins: builtinGroups, plugins });
}
