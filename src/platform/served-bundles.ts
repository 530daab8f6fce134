import path from 'node:path';
import { TreadleError } from '../base/errors.ts';
import type { ConversationMeta } from '../kernel/ports.ts';
import type { OpenBundle } from './open-bundle.ts';
import { didYouMean, oneOf } from './problems.ts';

/** An agent as it can be named from outside. */
export interface HostedAgent {
  /** Unique among all that are served. */
  readonly name: string;
  readonly bundle: string;
  readonly isDefault: boolean;
}

/** Which bundle a run or an agent's name belongs to. */
export interface ServedBundles {
  readonly all: readonly OpenBundle[];
  readonly agents: readonly HostedAgent[];
  /** What the conversations of these bundles may name as theirs: ids and paths. */
  readonly keys: readonly string[];
  /**
   * By the bundle's declared id, which survives moving its folder; by the path of its file for conversations that name
   * one, such as those that the command line began.
   */
  of(run: Pick<ConversationMeta, 'bundle'>): OpenBundle | undefined;
  /** The first bundle's default agent when there is no name. Throws `agent_unknown`. */
  agentNamed(name: string | undefined): { readonly bundle: OpenBundle; readonly agent: string };
  readonly nameOf: (run: Pick<ConversationMeta, 'agent'>) => string;
}

/** Throws `bundle_conflict` when two bundles have one id or an agent of one name: nobody could say which is meant. */
export function servedBundles(all: readonly OpenBundle[]): ServedBundles {
  const byKey = new Map<string, OpenBundle>();
  const byAgent = new Map<string, OpenBundle>();
  for (const bundle of all) {
    const { loaded } = bundle;
    const twin = byKey.get(loaded.id);
    if (twin !== undefined)
      throw new TreadleError('bundle_conflict', {
        place: loaded.file,
        found: `the id ${loaded.id}, which ${twin.loaded.file} has too`,
        wanted: 'ids that differ',
        hint: 'give one of them another `id`',
      });
    for (const key of [loaded.id, loaded.file, path.resolve(loaded.file)]) byKey.set(key, bundle);
    for (const agent of loaded.agents) {
      const other = byAgent.get(agent);
      if (other !== undefined)
        throw new TreadleError('bundle_conflict', {
          place: loaded.file,
          found: `an agent ${agent}, which ${other.loaded.file} has too`,
          wanted: 'agents whose names differ',
          hint: 'rename one of them, or serve the bundles apart',
        });
      byAgent.set(agent, bundle);
    }
  }
  const agents = all.flatMap(({ loaded }, index) =>
    loaded.agents.map((name) => ({
      name,
      bundle: loaded.id,
      isDefault: index === 0 && name === loaded.defaultAgent,
    })),
  );
  return {
    all,
    agents,
    keys: [...byKey.keys()],
    of: ({ bundle }) => byKey.get(bundle) ?? byKey.get(path.resolve(bundle)),
    agentNamed(name = all[0]?.loaded.defaultAgent) {
      const bundle = name === undefined ? undefined : byAgent.get(name);
      if (name !== undefined && bundle !== undefined) return { bundle, agent: name };
      const known = agents.map((one) => one.name);
      const hint = name === undefined ? undefined : didYouMean(name, known);
      throw new TreadleError('agent_unknown', {
        place: 'agent',
        found: name === undefined ? 'no bundle at all' : JSON.stringify(name),
        wanted: hint === undefined ? oneOf(known) : undefined,
        hint,
      });
    },
    nameOf: ({ agent }) => agent,
  };
}
