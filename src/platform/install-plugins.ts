import { systemClock } from '../base/clock.ts';
import { TreadleError } from '../base/errors.ts';
import { createBus } from '../kernel/bus.ts';
import { install, type Installed, type InstallOptions, type Plugin } from '../kernel/plugin.ts';
import type { Logger } from '../kernel/ports.ts';
import type { ActivePlugin } from './active-plugins.ts';

export interface InstallPluginsOptions extends Omit<InstallOptions, 'priority'> {
  readonly known: readonly Plugin[];
  /** False: nobody is told of what happens here. */
  readonly observed?: boolean | undefined;
}

/** Sets the active plugins of a bundle up, in their order. Throws what a plugin throws that cannot be. */
export async function installPlugins(
  active: readonly ActivePlugin[],
  { known, observed, ...ports }: InstallPluginsOptions,
): Promise<readonly Installed[]> {
  const installed: Installed[] = [];
  for (const { id, config, priority } of active) {
    if (observed === false && id.startsWith('observer.')) continue;
    const plugin = known.find((one) => one.id === id);
    if (plugin === undefined) throw new TreadleError('bundle_unknown_name', { place: 'plugins.active', found: id });
    await plugin.prepare?.(plugin.config.parse(config ?? {}));
    installed.push(install(plugin, config, { ...ports, priority }));
  }
  return installed;
}

/** Whether they could be set up together, without anything to come of it. Throws as above. */
export async function tryPlugins(active: readonly ActivePlugin[], known: readonly Plugin[]): Promise<void> {
  const record = (): never => {
    throw new Error('Treadle bug: a plugin states a fact before anything happens');
  };
  const bus = createBus({ clock: systemClock, logger: silent, record });
  const installed = await installPlugins(active, { known, observed: false, bus, clock: systemClock, logger: silent });
  for (const one of installed) one.uninstall();
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
