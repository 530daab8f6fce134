import path from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { isPromise } from '../../base/promise.ts';
import { resolveRole, roleTables } from '../../assembly/roles.ts';
import type { ModelRef } from '../../domain/agent.ts';
import type { Bundle } from '../../domain/bundle.ts';
import { shippedRoles } from '../../domain/declared-model.ts';
import type { ModelSource } from '../../kernel/model.ts';
import { detect } from '../../adapters/models/detect.ts';
import { createModelSource } from '../../adapters/models/model-source.ts';
import { loadScript } from '../../adapters/models/script.ts';
import type { Environment } from '../bundle/environment.ts';
import type { LoadedAgent, LoadedBundle } from '../bundle/load.ts';

/** What `provider: auto` stands for in this process, and why. */
export interface ChosenModel {
  readonly ref: ModelRef;
  /** `key`: a provider whose API key is set. `local`: a server that answers. `scripted`: nothing real was found. */
  readonly why: 'key' | 'local' | 'scripted';
}

export interface ChooseOptions {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly models?: ModelSource | undefined;
}

/** Opens the bundle's models; looks for a real one where the bundle leaves it open. */
export async function chooseModel(
  bundle: LoadedBundle,
  { environment, clock, models }: ChooseOptions,
): Promise<{ readonly models: ModelSource; readonly chosen: ChosenModel | undefined }> {
  const source =
    models ??
    createModelSource({ environment, clock, scripts: (name) => loadScript(path.resolve(bundle.folder, name)) });
  const named = bundle.agents.flatMap((id) => {
    const { grant, frame } = bundle.agent(id);
    return [...grant.models, ...(frame.aside?.models ?? [])];
  });
  const open = named.find((ref) => ref.provider === 'auto');
  if (open === undefined) return { models: source, chosen: undefined };
  const found = await detect(environment);
  if (found === undefined)
    return { models: source, chosen: { ref: { ...open, provider: 'scripted', model: 'authored' }, why: 'scripted' } };
  const { options: _, ...rest } = open; // the script is for the scripted model alone
  const isLocal = LOCAL.has(found.provider);
  return { models: source, chosen: { ref: { ...rest, ...found }, why: isLocal ? 'local' : 'key' } };
}

const LOCAL: ReadonlySet<string> = new Set(['ollama', 'lmstudio', 'llamacpp', 'vllm']);

/** The same bundle, with the chosen model in the place of `auto`, so that what a turn costs and how it is masked is that model's. */
export function withChosenModel(bundle: LoadedBundle, chosen: ChosenModel | undefined): LoadedBundle {
  if (chosen === undefined) return bundle;
  const known = (ref: ModelRef): ModelRef => (ref.provider === 'auto' ? chosen.ref : ref);
  const settled = new WeakMap<LoadedAgent, LoadedAgent>();
  const settle = (agent: LoadedAgent): LoadedAgent => {
    let made = settled.get(agent);
    if (made === undefined) {
      const { frame, grant } = agent;
      const { aside } = frame;
      made = {
        ...agent,
        frame: aside === undefined ? frame : { ...frame, aside: { ...aside, models: aside.models.map(known) } },
        grant: { ...grant, models: grant.models.map(known) },
      };
      settled.set(agent, made);
    }
    return made;
  };
  return {
    ...bundle,
    agent: (id) => settle(bundle.agent(id)),
    agentNow(name, owner) {
      const found = bundle.agentNow(name, owner);
      return isPromise(found) ? found.then(settle) : settle(found);
    },
    agentSource: (selections, accounts, memory) => bundle.agentSource(selections, accounts, memory, settle),
  };
}

/** The models of a role, with the chosen one in the place of `auto`. Undefined for a role that nobody declares. */
export function modelsOfRole(
  bundle: Bundle,
  agent: string,
  role: string,
  chosen: ChosenModel | undefined,
): readonly ModelRef[] | undefined {
  const found = resolveRole(roleTables(bundle, agent, shippedRoles), role, []);
  if (!found.ok) return undefined;
  return found.models.map((ref) => (ref.provider === 'auto' && chosen !== undefined ? chosen.ref : ref));
}
