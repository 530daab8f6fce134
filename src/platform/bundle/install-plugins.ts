import { systemClock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { createBus } from '../../kernel/bus.ts';
import { install, type InstallOptions, type Plugin } from '../../kernel/plugin.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Telemetry } from '../../kernel/telemetry.ts';
import type { ActivePlugin } from './active-plugins.ts';
import { createPluginPool, partKey, type Part } from './plugin-pool.ts';

export interface PluginPartsOptions extends Omit<InstallOptions, 'priority' | 'bus' | 'telemetry'> {
  readonly known: readonly Plugin[];
  /** False: nobody is told of what happens here. */
  readonly observed?: boolean | undefined;
  /** Where spans go, for the plugin of this id. */
  readonly telemetryOf?: ((id: string) => Promise<Telemetry | undefined>) | undefined;
}

/** The active plugins of a bundle, in their order, ready to be set up. */
export function pluginParts(
  active: readonly ActivePlugin[],
  { known, observed, telemetryOf, ...ports }: PluginPartsOptions,
): readonly Part[] {
  return active
    .filter(({ id }) => observed !== false || !id.startsWith('observer.'))
    .map(({ id, config, priority }) => ({
      key: partKey(id, config, priority),
      async start(bus) {
        const plugin = known.find((one) => one.id === id);
        if (plugin === undefined) throw new TreadleError('bundle_unknown_name', { place: 'plugins.active', found: id });
        await plugin.prepare?.(plugin.config.parse(config ?? {}));
        return install(plugin, config, { ...ports, bus, priority, telemetry: await telemetryOf?.(id) });
      },
    }));
}

/** Whether they could be set up together, without anything to come of it. Throws as above. */
export async function tryPlugins(active: readonly ActivePlugin[], known: readonly Plugin[]): Promise<void> {
  const record = (): never => {
    throw new Error('Treadle bug: a plugin states a fact before anything happens');
  };
  const bus = createBus({ clock: systemClock, logger: silent, record });
  const ports = { known, observed: false, clock: systemClock, logger: silent };
  const running = await createPluginPool(bus).take(pluginParts(active, ports));
  await running.release();
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
