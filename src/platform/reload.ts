import { watch } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../base/clock.ts';
import { canonicalJson, toJson } from '../base/json.ts';
import type { EffectiveAgent } from '../domain/agent.ts';
import type { AgentSource, Assembled, Logger } from '../kernel/ports.ts';
import { isPromise } from '../base/promise.ts';
import type { LoadedBundle } from './load.ts';

/** A bundle at one time: what is loaded, and the agents that turns begin with. */
export interface Edition {
  readonly bundle: LoadedBundle;
  readonly agents: AgentSource;
}

export interface ReloadOptions {
  readonly first: Edition;
  /** Loads the file as it is now. Rejects when it is wrong. */
  readonly load: () => Promise<Edition>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The newest edition of a bundle that is right. */
export interface Reload {
  readonly current: Edition;
  /** Every turn begins with the newest edition and ends with the one that it began with. */
  readonly agents: AgentSource;
  /** Looks at the file. `kept`: it is wrong, or asks for more than a new turn can give; a log line says why. */
  now(): Promise<'same' | 'new' | 'kept'>;
  /** Looks whenever something in the bundle's folder changes. The returned function ends it. */
  watch(): () => void;
  close(): Promise<void>;
}

/** Editors write a file in several steps: milliseconds without another one. */
const QUIET_MS = 150;
/** Editions whose turns may still run. */
const MOST_EDITIONS = 8;

export function createReload({ first, load, clock, logger }: ReloadOptions): Reload {
  let current = first;
  let looking: Promise<unknown> = Promise.resolve();
  const editions = [first];
  const owners = new WeakMap<EffectiveAgent, AgentSource>();
  const { file } = first.bundle;

  async function look(): Promise<'same' | 'new' | 'kept'> {
    let next: Edition;
    try {
      next = await load();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      logger.error('an edited bundle is wrong; turns go on with the one before', { bundle: file, why });
      return 'kept';
    }
    if (next.bundle.revision === current.bundle.revision) {
      await next.bundle.close();
      return 'same';
    }
    const why = needsRestart(current.bundle, next.bundle);
    if (why !== undefined) {
      await next.bundle.close();
      logger.error('an edited bundle needs a restart; turns go on with the one before', { bundle: file, why });
      return 'kept';
    }
    const fields = { bundle: file, before: current.bundle.revision, after: next.bundle.revision };
    logger.info('an edited bundle counts from the next turn on', fields);
    current = next;
    editions.push(next);
    const [oldest] = editions;
    if (editions.length > MOST_EDITIONS && oldest !== undefined) {
      editions.shift();
      await oldest.bundle.close();
    }
    return 'new';
  }

  return {
    get current() {
      return current;
    },
    agents: {
      assemble(meta, conversation) {
        const { agents } = current;
        const own = (assembled: Assembled): Assembled => {
          owners.set(assembled.agent, agents);
          return assembled;
        };
        const assembled = agents.assemble(meta, conversation);
        return isPromise(assembled) ? assembled.then(own) : own(assembled);
      },
      tools(agent) {
        // A turn that another process began, or that was read back, says by its revision which edition it is of.
        const edition = editions.find(({ bundle }) => bundle.revision === agent.revision) ?? current;
        return (owners.get(agent) ?? edition.agents).tools(agent);
      },
    },
    now() {
      const mine = looking.then(look, look);
      looking = mine;
      return mine;
    },
    watch() {
      let cancel: () => void = () => undefined;
      const soon = (): void => {
        cancel();
        cancel = clock.after(QUIET_MS, () => void this.now());
      };
      // The folder, because editors put a new file in the place of the old one.
      const watcher = watch(path.dirname(path.resolve(file)), { persistent: false, recursive: true }, soon);
      watcher.on('error', (error) => logger.warn('a bundle cannot be watched any more', { bundle: file, error }));
      return () => {
        cancel();
        watcher.close();
      };
    },
    async close() {
      await looking.catch(() => undefined);
      await Promise.all(editions.map(({ bundle }) => bundle.close()));
    },
  };
}

/** What a running process cannot take over: gates that change under a turn would judge half of it. */
function needsRestart(before: LoadedBundle, after: LoadedBundle): string | undefined {
  if (before.id !== after.id) return `its id is ${after.id} and was ${before.id}`;
  if (before.agents.join() !== after.agents.join()) return `its agents are ${after.agents.join(', ')}`;
  const plugins = ({ plugins: active }: LoadedBundle): string => canonicalJson(toJson(active));
  return plugins(before) === plugins(after) ? undefined : 'its plugins are others';
}
