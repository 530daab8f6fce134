import type { Behaviour, BehaviourKey } from '../domain/behaviour.ts';
import { SHARED_LEVELS, type Bundle } from '../domain/bundle.ts';
import type { Inventory } from '../domain/inventory.ts';

/** Where a value stands: keys from the root of the bundle. */
export type Path = readonly (string | number)[];

/** A value with the place it came from. */
export interface Placed<T> {
  readonly value: T;
  readonly from: Path;
}

interface Level<T> {
  readonly block: T;
  readonly from: Path;
}

/**
 * The levels that shape how an agent behaves, nearest first: its own, `default_agent` (also as a Nexus configuration
 * writes it), `default`. A level that the bundle does not have is absent.
 */
export function behaviourLevels(bundle: Bundle, agent: string): readonly Level<Behaviour>[] {
  const react = bundle.config?.react;
  const named = (id: string): [Behaviour | undefined, Path] => [own(react, id), ['config', 'react', id]];
  return present([
    ...(isShared(agent) ? [] : [named(agent)]),
    named('default_agent'),
    ...nexusBlocks(bundle).map(({ block, from }): [Behaviour, Path] => [block, from]),
    named('default'),
  ]);
}

/** The blocks that a Nexus configuration writes for its one agent. */
export function nexusBlocks(bundle: Bundle): readonly Level<Behaviour>[] {
  return present([
    [bundle['nexus.agent.react'], ['nexus.agent.react']],
    [bundle.plugins?.['nexus.agent.react'], ['plugins', 'nexus.agent.react']],
    [bundle.plugins?.['agent.react'], ['plugins', 'agent.react']],
  ]);
}

/** The levels of an agent's inventory, nearest first. */
export function inventoryLevels(bundle: Bundle, agent: string): readonly Level<Inventory>[] {
  const { block, from } = consumer(bundle);
  const ids = isShared(agent) ? SHARED_LEVELS : [agent, ...SHARED_LEVELS];
  return present(ids.map((id) => [own(block?.agents, id), [...from, 'agents', id]]));
}

/** `surfaces.as_consumer`, where this bundle writes it. */
export function consumer(bundle: Bundle): Level<NonNullable<Bundle['surfaces']>['as_consumer']> {
  if (bundle.surfaces === undefined) {
    return { block: bundle.config?.surfaces?.as_consumer, from: ['config', 'surfaces', 'as_consumer'] };
  }
  return { block: bundle.surfaces.as_consumer, from: ['surfaces', 'as_consumer'] };
}

/** The value of a key on the nearest level that sets it. */
export function resolve<T extends object, K extends keyof T & string>(
  levels: readonly Level<T>[],
  key: K,
): Placed<NonNullable<T[K]>> | undefined {
  for (const { block, from } of levels) {
    const value = block[key];
    if (value !== undefined && value !== null) return { value, from: [...from, key] };
  }
  return undefined;
}

/** The three ways to write one thing: the nearest level that uses any of them counts. */
export const PROMPT_KEYS = ['system_prompt', 'instructions', 'system_prompt_file'] as const satisfies BehaviourKey[];

export function resolvePrompt(
  levels: readonly Level<Behaviour>[],
): (Placed<string> & { readonly key: (typeof PROMPT_KEYS)[number] }) | undefined {
  for (const level of levels) {
    for (const key of PROMPT_KEYS) {
      const found = resolve([level], key);
      if (found !== undefined) return { ...found, key };
    }
  }
  return undefined;
}

/** Agents of the bundle in the order of the file, never empty, and the one that answers when none is named. */
export function agentsOf(bundle: Bundle): { readonly agents: readonly string[]; readonly defaultAgent: string } {
  const { block } = consumer(bundle);
  const ids = [...Object.keys(block?.agents ?? {}), ...Object.keys(bundle.config?.react ?? {})];
  const named = [...new Set(ids)].filter((id) => !isShared(id));
  const agents = named.length > 0 ? named : [block?.default_agent ?? 'main'];
  const first = agents.includes('main') ? 'main' : (agents[0] ?? 'main');
  return { agents, defaultAgent: block?.default_agent ?? first };
}

export function isShared(id: string): boolean {
  return (SHARED_LEVELS as readonly string[]).includes(id);
}

function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

function present<T>(levels: readonly (readonly [T | undefined, Path])[]): readonly Level<T>[] {
  return levels.flatMap(([block, from]) => (block === undefined ? [] : [{ block, from }]));
}
