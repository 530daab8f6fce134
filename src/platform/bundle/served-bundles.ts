import path from 'node:path';
import { behaviourLevels, resolve } from '../../assembly/resolve.ts';
import { isoTime } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import type { ConversationMeta } from '../../kernel/log.ts';
import type { LoadedBundle } from './load.ts';
import type { OpenBundle } from './open-bundle.ts';
import { didYouMean, oneOf } from './problems.ts';
import type { RefusedEdit } from './reload.ts';

/** An agent as it can be named from outside. */
export interface HostedAgent {
  /** Unique among all that are served: `main`, or `desk:main` where several bundles have a `main`. */
  readonly name: string;
  readonly bundle: string;
  readonly isDefault: boolean;
  /** What it is for, in a sentence. */
  readonly description?: string;
  /** First messages that people may be offered. */
  readonly starters?: readonly string[];
  /** An edit of its bundle that does not count: it has mistakes, or asks for a restart. Its details say why. */
  readonly refusedEdit?: { readonly at: string; readonly kind: RefusedEdit['kind'] };
  /** What `auto` stands for in this process, and why. Absent where the bundle names its models. */
  readonly model?: { readonly provider: string; readonly model: string; readonly why: 'key' | 'local' | 'scripted' };
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
  /**
   * The first bundle's default agent when there is no name. With its bundle's name before it, an agent can always be named,
   * also where the agent's own name would do. Throws `agent_unknown`.
   */
  agentNamed(name: string | undefined): { readonly bundle: OpenBundle; readonly agent: string };
  /** The name that `agents` gives it; its own where its bundle is not served. */
  readonly nameOf: (run: Pick<ConversationMeta, 'agent' | 'bundle'>) => string;
}

/** Throws `bundle_conflict` when two bundles have one id: nobody could say which is meant. */
export function servedBundles(all: readonly OpenBundle[]): ServedBundles {
  const byKey = new Map<string, OpenBundle>();
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
  }
  let known: { readonly editions: readonly LoadedBundle[]; readonly names: AgentNames } | undefined;
  /** As the bundles are now: an edit may bring agents, and take some away. */
  const names = (): AgentNames => {
    const editions = all.map(({ loaded }) => loaded);
    if (known?.editions.every((one, index) => one === editions[index]) !== true)
      known = { editions, names: namesOf(all) };
    return known.names;
  };
  const of = ({ bundle }: Pick<ConversationMeta, 'bundle'>): OpenBundle | undefined =>
    byKey.get(bundle) ?? byKey.get(path.resolve(bundle));
  return {
    all,
    get agents() {
      return names().named.map(presented);
    },
    keys: [...byKey.keys()],
    of,
    agentNamed(name) {
      const { named, byName } = names();
      const found = name === undefined ? named.find((one) => one.isDefault) : byName.get(name);
      if (found !== undefined) return { bundle: found.bundle, agent: found.agent };
      const all = named.map((one) => one.name);
      const hint = name === undefined ? undefined : didYouMean(name, all);
      throw new TreadleError('agent_unknown', {
        place: 'agent',
        found: name === undefined ? 'no bundle at all' : JSON.stringify(name),
        wanted: hint === undefined ? oneOf(all) : undefined,
        hint,
      });
    },
    nameOf(run) {
      const bundle = of(run);
      return names().named.find((one) => one.bundle === bundle && one.agent === run.agent)?.name ?? run.agent;
    },
  };
}

interface NamedAgent {
  readonly name: string;
  /** What it may be called besides. */
  readonly aliases: readonly string[];
  readonly bundle: OpenBundle;
  readonly agent: string;
  readonly isDefault: boolean;
}

interface AgentNames {
  readonly named: readonly NamedAgent[];
  readonly byName: ReadonlyMap<string, NamedAgent>;
}

function namesOf(all: readonly OpenBundle[]): AgentNames {
  const named = namedAgents(all);
  return {
    named,
    byName: new Map(named.flatMap((one) => [one.name, ...one.aliases].map((name) => [name, one] as const))),
  };
}

function presented({ name, bundle, agent, isDefault }: NamedAgent): HostedAgent {
  const { loaded, model, refusedEdit } = bundle;
  const levels = behaviourLevels(loaded.bundle, agent);
  const about = resolve(levels, 'about')?.value;
  const starters = resolve(levels, 'starters')?.value;
  // What stands for `auto` has taken its place in the grant by now.
  const usesAuto = loaded
    .agent(agent)
    .grant.models.some((ref) => ref.provider === model?.ref.provider && ref.model === model.ref.model);
  return {
    name,
    bundle: loaded.id,
    isDefault,
    ...(about !== undefined && { description: about }),
    ...(starters !== undefined && { starters }),
    ...(refusedEdit !== undefined && { refusedEdit: { at: isoTime(refusedEdit.at), kind: refusedEdit.kind } }),
    ...(usesAuto &&
      model !== undefined && { model: { provider: model.ref.provider, model: model.ref.model, why: model.why } }),
  };
}

/** Its own name where only one agent has it; else with its bundle's before it, and the version only where that is needed. */
function namedAgents(all: readonly OpenBundle[]): readonly NamedAgent[] {
  const shortId = ({ loaded: { id } }: OpenBundle): string => id.replace(/@[^@]*$/, '');
  return all.flatMap((bundle, index) => {
    const { id, agents, defaultAgent } = bundle.loaded;
    const isOnlyOne = all.every((other) => other === bundle || shortId(other) !== shortId(bundle));
    const prefix = isOnlyOne ? shortId(bundle) : id;
    return agents.map((agent) => {
      const isShared = all.some((other) => other !== bundle && other.loaded.agents.includes(agent));
      const full = `${prefix}:${agent}`;
      return {
        name: isShared ? full : agent,
        aliases: [full, `${id}:${agent}`],
        bundle,
        agent,
        isDefault: index === 0 && agent === defaultAgent,
      };
    });
  });
}
