import { isObject } from '../../base/json.ts';
import { nexusBlocks, type Path } from '../../assembly/resolve.ts';
import type { Bundle } from '../../domain/bundle.ts';
import type { DeclaredModel } from '../../domain/declared-model.ts';
import type { Declared } from '../bundle/declare.ts';
import { KEY_VARIABLES } from '../../adapters/models/keys.ts';
import type { Environment } from '../bundle/environment.ts';
import { didYouMean, type Notices, type Problems } from '../bundle/problems.ts';

/** Every model that a bundle writes, wherever, with its place. */
export function declaredModels(bundle: Bundle): readonly { readonly model: DeclaredModel; readonly at: Path }[] {
  const found: { model: DeclaredModel; at: Path }[] = [];
  const visit = (value: unknown, at: Path): void => {
    if (Array.isArray(value)) value.forEach((item, index) => visit(item, [...at, index]));
    else if (isObject(value) && typeof value['provider'] === 'string')
      found.push({ model: value as DeclaredModel, at }); // nothing else in a table of roles has a provider
    else if (isObject(value)) for (const [key, item] of Object.entries(value)) visit(item, [...at, key]);
  };
  visit(bundle.models, ['models']);
  visit(bundle.config?.role_models, ['config', 'role_models']);
  const levels = Object.entries(bundle.config?.react ?? {}).map(([id, block]) => ({
    block,
    from: ['config', 'react', id],
  }));
  for (const { block, from } of [...levels, ...nexusBlocks(bundle)]) {
    visit(block.role_models, [...from, 'role_models']);
    visit(block.supported_models, [...from, 'supported_models']);
  }
  return found;
}

/**
 * Adds providers that look like a slip of a known one to `problems`.
 *
 * Any installed AI SDK package is a provider, so what is far from every known name is left to the first call.
 */
export function checkProviders(
  { bundle, place, quoted }: Declared,
  known: readonly string[],
  problems: Problems,
): void {
  for (const { model, at } of declaredModels(bundle)) {
    if (known.includes(model.provider) || /[@/]/.test(model.provider)) continue;
    const hint = didYouMean(model.provider, known);
    if (hint === undefined) continue;
    const path = [...at, 'provider'];
    problems.add('bundle_unknown_name', {
      place: place(path),
      found: `no provider ${quoted(path, model.provider)}`,
      hint,
    });
  }
}

/** Adds servers without an address to `problems`, and what a call would miss in this place to `notices`. */
export function checkReach(
  { bundle, place }: Declared,
  known: readonly string[],
  environment: Environment,
  problems: Problems,
  notices: Notices,
): void {
  for (const { model, at } of declaredModels(bundle)) {
    const { provider, api_key_env: named, base_url: url } = model;
    if (provider === 'openai-compatible' && url === undefined) {
      const wanted = 'base_url, where the server is';
      problems.add('bundle_invalid', {
        place: place([...at, 'provider']),
        found: 'a server without an address',
        wanted,
      });
    }
    if (at.includes('supported_models')) continue; // a menu: what cannot be reached is told when it is picked
    const usual = Object.hasOwn(KEY_VARIABLES, provider) ? KEY_VARIABLES[provider as keyof typeof KEY_VARIABLES] : []; // its own key
    const variables: readonly string[] = named === undefined ? usual : [named];
    const [first] = variables;
    if (first !== undefined && variables.every((name) => (environment[name] ?? '').trim() === '')) {
      const key = named === undefined ? 'provider' : 'api_key_env';
      notices.add(place([...at, key]), `${first} is not set: ${provider} cannot be called without a key`);
    }
    if (!known.includes(provider) && !isInstalled(provider)) {
      notices.add(place([...at, 'provider']), `no package of ${provider} is installed, such as @ai-sdk/${provider}`);
    }
  }
}

function isInstalled(provider: string): boolean {
  return [`@ai-sdk/${provider}`, provider].some((name) => {
    try {
      return import.meta.resolve(name) !== '';
    } catch {
      return false;
    }
  });
}
