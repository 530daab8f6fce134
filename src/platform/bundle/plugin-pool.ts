import { canonicalJson, toJson } from '../../base/json.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import type { Bus, SharedBus } from '../../kernel/bus.ts';
import type { AnnounceBlock, Manifest } from '../../kernel/plugin.ts';

/** Something that registers on the bus for as long as an edition needs it: a plugin with its configuration, the meter. */
export interface Part {
  /** Editions that name the same share one, with what it remembers. */
  readonly key: string;
  /** Registers on the bus of its owner. Throwing leaves nothing behind. */
  readonly start: (bus: Bus) => MaybePromise<RunningPart>;
}

export interface RunningPart {
  readonly manifest: Manifest;
  readonly blocks?: ReadonlyMap<string, AnnounceBlock> | undefined;
  readonly settle?: (() => Promise<void>) | undefined;
  uninstall(): void;
}

/** The parts of one edition, running. */
export interface Running {
  readonly manifests: readonly Manifest[];
  readonly blocks: readonly (readonly [title: string, block: AnnounceBlock])[];
  /** The bus as it is for this edition. */
  readonly bus: Bus;
  /** Makes this edition the one that counts wherever none is named. */
  use(): void;
  /** Takes those down that no other edition needs, after they have finished. */
  release(): Promise<void>;
}

/** What runs for the editions of one bundle. What did not change is not started again, and forgets nothing. */
export interface PluginPool {
  /** Throws what a part throws that cannot be, or two that cannot be together; nothing new runs then. */
  take(parts: readonly Part[]): Promise<Running>;
}

interface Kept {
  readonly owner: object;
  readonly part: RunningPart;
  uses: number;
}

/** The same for the same plugin, configuration and priority. */
export function partKey(...what: readonly unknown[]): string {
  return canonicalJson(toJson(what));
}

export function createPluginPool(bus: SharedBus): PluginPool {
  const kept = new Map<string, Kept>();

  async function release(keys: readonly string[]): Promise<void> {
    const over = keys.flatMap((key) => {
      const one = kept.get(key);
      if (one === undefined || --one.uses > 0) return [];
      kept.delete(key);
      return [one.part];
    });
    for (const part of over) await part.settle?.();
    for (const part of over) part.uninstall();
  }

  return {
    async take(parts) {
      const taken: string[] = [];
      try {
        for (const { key, start } of parts) {
          let one = kept.get(key);
          if (one === undefined) {
            const owner = {};
            const started = start(bus.ownedBy(owner));
            one = { owner, part: isPromise(started) ? await started : started, uses: 0 };
            kept.set(key, one);
          }
          one.uses++;
          taken.push(key);
        }
        const running = taken.flatMap((key) => kept.get(key) ?? []);
        const owners = running.map(({ owner }) => owner);
        const view = bus.view(owners);
        return {
          manifests: running.map(({ part }) => part.manifest),
          blocks: running.flatMap(({ part }) => [...(part.blocks ?? [])]),
          bus: view,
          use: () => bus.use(owners),
          release: () => release(taken),
        };
      } catch (error) {
        await release(taken);
        throw error;
      }
    },
  };
}
