import path from 'node:path';
import type { Clock } from '../base/clock.ts';
import { digest } from '../base/digest.ts';
import { toJson } from '../base/json.ts';
import { isPromise } from '../base/promise.ts';
import type { ModelRef } from '../domain/agent.ts';
import type { AgentSource, Assembled, ModelSource } from '../kernel/ports.ts';
import { detect } from '../adapters/models/detect.ts';
import { createModelSource } from '../adapters/models/model-source.ts';
import { loadScript } from '../adapters/models/script.ts';
import type { Environment } from './environment.ts';
import type { LoadedBundle } from './load.ts';

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

/** The same agents, with the chosen model in the place of `auto`: the log says what was really called. */
export function withChosenModel(source: AgentSource, chosen: ChosenModel | undefined): AgentSource {
  if (chosen === undefined) return source;
  const replaced = new WeakMap<Assembled['agent'], Assembled>();
  const originals = new WeakMap<Assembled['agent'], Assembled['agent']>();
  const replace = (assembled: Assembled): Assembled => {
    let made = replaced.get(assembled.agent);
    if (made === undefined) {
      const known = (ref: ModelRef): ModelRef => (ref.provider === 'auto' ? chosen.ref : ref);
      const { models, aside, ...rest } = assembled.agent;
      const agent = {
        ...rest,
        ...(aside === undefined ? {} : { aside: { ...aside, models: aside.models.map(known) } }),
        models: models.map(known),
      };
      made = { ...assembled, agent, digest: digest(toJson(agent)) };
      replaced.set(assembled.agent, made);
      originals.set(agent, assembled.agent);
    }
    return { ...made, facts: assembled.facts };
  };
  return {
    assemble(meta, conversation) {
      const assembled = source.assemble(meta, conversation);
      return isPromise(assembled) ? assembled.then(replace) : replace(assembled);
    },
    tools: (agent) => source.tools(originals.get(agent) ?? agent),
  };
}
