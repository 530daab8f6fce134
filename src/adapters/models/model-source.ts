import { systemClock, type Clock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { canonicalJson, toJson } from '../../base/json.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import type { ModelRef } from '../../domain/agent.ts';
import type { Model, ModelSource } from '../../kernel/model.ts';
import type { Environment } from './local-servers.ts';
import type { Fetch } from './providers.ts';
import { loadScript, type Script } from './script.ts';
import { createScriptedModel } from './scripted.ts';

export interface ModelSourceOptions {
  /** Where keys and the addresses of local servers come from. */
  readonly environment: Environment;
  readonly clock?: Clock | undefined;
  /** Finds the script that a model of the provider `scripted` names. Absent: it is the path of a file. */
  readonly scripts?: ((name: string) => MaybePromise<Script>) | undefined;
  readonly fetch?: Fetch | undefined;
  readonly importPackage?: ((name: string) => Promise<unknown>) | undefined;
}

/**
 * Opens models of every provider, each reference once.
 *
 * What `options` of a reference may hold: `baseUrl` and `apiKeyEnv` for every real provider; `api: 'chat'` for openai;
 * `structuredOutputs: true` for a Chat Completions server that takes a schema; `script`, and `delayMs` and `pace` in
 * milliseconds, for the scripted model.
 */
export function createModelSource(options: ModelSourceOptions): ModelSource {
  const opened = new Map<string, MaybePromise<Model>>();
  const known = new WeakMap<ModelRef, Model>(); // references live as long as their agents, so most need no key
  return {
    open(ref) {
      const seen = known.get(ref);
      if (seen !== undefined) return seen;
      const key = canonicalJson(toJson(ref));
      let model = opened.get(key);
      if (model !== undefined) {
        if (!isPromise(model)) known.set(ref, model);
        return model;
      }
      model = open(ref, options).then(
        (found) => {
          opened.set(key, found);
          known.set(ref, found);
          return found;
        },
        (error: unknown) => {
          opened.delete(key); // a key may be set, and a package installed, before the next attempt
          throw error;
        },
      );
      opened.set(key, model);
      return model;
    },
  };
}

async function open(ref: ModelRef, options: ModelSourceOptions): Promise<Model> {
  const { environment, clock = systemClock, fetch } = options;
  if (ref.provider === 'scripted') return openScripted(ref, options.scripts ?? loadScript, clock);
  // Loaded with the first real model: a scripted run needs none of it.
  const [{ createAiSdkModel }, { openModel }] = await Promise.all([import('./ai-sdk.ts'), import('./providers.ts')]);
  const importPackage = options.importPackage ?? ((name: string): Promise<unknown> => import(name));
  const { languageModel, ...found } = await openModel(ref, { environment, fetch, importPackage });
  return createAiSdkModel(languageModel, { ...found, clock });
}

async function openScripted(
  { model, options = {} }: ModelRef,
  scripts: (name: string) => MaybePromise<Script>,
  clock: Clock,
): Promise<Model> {
  const name = options['script'];
  if (typeof name !== 'string') {
    throw new TreadleError('script_invalid', {
      place: `model scripted/${model}`,
      wanted: 'script, the path of a script',
    });
  }
  const found = scripts(name);
  return createScriptedModel(isPromise(found) ? await found : found, {
    clock,
    delayMs: milliseconds(options['delayMs']),
    paceMs: milliseconds(options['pace']),
  });
}

function milliseconds(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}
