import { isObject } from '../base/json.ts';
import { nexusBlocks, type Path } from '../assembly/resolve.ts';
import type { Bundle } from '../domain/bundle.ts';
import type { DeclaredModel } from '../domain/declared-model.ts';
import type { Declared } from './declare.ts';
import { didYouMean, type Problems } from './problems.ts';

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
