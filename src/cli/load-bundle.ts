import type { Environment } from '../platform/environment.ts';
import type { LoadedBundle } from '../platform/load.ts';

/** A bundle to look at, not to run. Throws what loading a bundle throws. */
export async function loadForReading(file: string, environment: Environment): Promise<LoadedBundle> {
  const [{ loadBundle }, { builtinGroups }, { shippedPlugins }] = await Promise.all([
    import('../platform/load.ts'),
    import('../platform/builtins.ts'),
    import('../plugins/shipped.ts'),
  ]);
  const plugins = new Map(shippedPlugins.map((one) => [one.id, one.config]));
  return loadBundle(file, { environment, builtins: builtinGroups, plugins });
}
