import { assert } from '../../base/assert.ts';
import type { ErrorCode } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import type { Path } from '../../assembly/resolve.ts';
import { bundle, type Bundle } from '../../domain/bundle.ts';
import type { IssueParams } from '../../domain/bundle-key.ts';
import { misfits, quote, type Misfit } from '../../adapters/schema/wording.ts';
import type { Environment } from './environment.ts';
import { expansion, type Expansion } from './expand.ts';
import { keysAt } from './bundle-schema.ts';
import { fittingParts } from '../grant/fitting-parts.ts';
import { didYouMean, oneOf, Problems } from './problems.ts';
import { readYaml, type YamlSource } from './yaml.ts';

/** A bundle as its file declares it, where each value stands, and what is wrong with the text. */
export interface Declared {
  readonly bundle: Bundle;
  /** `file:line:column  path`, of the key. */
  readonly place: (path: Path) => string;
  /** A value as an error may quote it: as the file writes it, so that no secret is told. */
  readonly quoted: (path: Path, value: unknown) => string;
  /** What the file says where a variable was put in, else undefined. */
  readonly written: (path: Path) => string | undefined;
  /** A value as the file writes it, with variables by their names, for people to read. */
  readonly asWritten: (path: Path, value: Json) => Json;
}

/** The same, of a text that may be wrong. */
export interface Readable extends Declared {
  /** What does not fit the schema was left out, and is told in the problems: what refers to it cannot be checked. */
  readonly isPartial: boolean;
}

/**
 * Read the text of a bundle, strictly.
 *
 * Adds every problem that the text has by itself, and returns the parts that fit. Throws a BundleError when none do. What
 * names stand for is checked by loading.
 */
export function declare(text: string, file: string, environment: Environment, problems: Problems): Readable {
  const unset = new Problems();
  const expanded = expansion(environment, unset);
  const source = readYaml(text, file, problems, expanded.mapString);
  const isMalformed = problems.any;
  problems.takeAll(unset);
  // A variable that is not set hides nothing else: the rest is looked at as if its value were left out.
  if (isMalformed) problems.throwIfAny(file);
  assert(source !== undefined, 'nothing was read and no problem was told');
  const parsed = bundle.safeParse(source.value, { reportInput: true });
  if (!parsed.success) {
    const found = misfits(parsed.error.issues).map((misfit) => ({ misfit, offset: source.offset(pathOf(misfit)) }));
    for (const { misfit } of found.sort((left, right) => left.offset - right.offset)) {
      if (expanded.isMissing(pathOf(misfit))) continue;
      report(misfit, source, expanded, problems);
    }
  }
  const fitting = parsed.success ? undefined : fittingParts(source.value);
  if (!parsed.success && fitting === undefined) problems.throwIfAny();
  const real = fitting?.real ?? ((path: Path) => path);
  return {
    bundle: parsed.data ?? fitting?.bundle ?? {},
    isPartial: !parsed.success,
    place: (path) => source.place(real(path)),
    quoted: (path, given) => quoted(expanded, real(path), given),
    written: (path) => expanded.written(real(path)),
    asWritten: (path, given) => asWritten(expanded, real(path), given),
  };
}

function pathOf({ path }: Misfit): Path {
  return path as Path; // JSON has no symbols for keys
}

function report(misfit: Misfit, source: YamlSource, expanded: Expansion, problems: Problems): void {
  const path = pathOf(misfit);
  if (misfit.unknownKey !== undefined) {
    const known = keysAt(path.slice(0, -1));
    const hint = REMARKS[misfit.unknownKey] ?? didYouMean(misfit.unknownKey, known);
    const wanted = hint === undefined ? oneOf(known) : undefined;
    problems.add('bundle_unknown_key', { place: source.place(path), found: 'a key that nothing reads', wanted, hint });
    return;
  }
  const params = (misfit.params ?? {}) as IssueParams; // only our own refinements have any
  const code: ErrorCode = params.code ?? 'bundle_invalid';
  if (code === 'bundle_not_supported') {
    problems.add(code, { place: source.place(path), found: params.found, wanted: params.wanted, hint: params.hint });
    return;
  }
  const written = expanded.written(path);
  problems.add(code, {
    place: source.valuePlace(path),
    found: params.found ?? (written === undefined ? (misfit.found ?? 'nothing') : quote(written)),
    wanted: params.wanted ?? misfit.wanted,
    hint: params.hint ?? remark(misfit),
  });
}

/** Keys that people try, with what to do instead. */
const REMARKS: Readonly<Record<string, string>> = {
  '<<': 'YAML 1.2 has no merge keys; share keys under default_agent',
  api_key: 'a key is read from the environment; name the variable with api_key_env',
  apiKey: 'a key is read from the environment; name the variable with api_key_env',
};

function remark({ found, wanted }: Misfit): string | undefined {
  if (wanted === 'a string' && found !== undefined && /^(number|boolean) /.test(found)) return 'put it in quotes';
  if (wanted === 'true or false' && found !== undefined && /^string "(yes|no|on|off)"$/i.test(found)) {
    return 'YAML 1.2 knows only true and false';
  }
  if (/^string "\$?\d+"$/.test(found ?? '') && /number|at (least|most)/.test(wanted)) return 'write it without quotes';
  return undefined;
}

function quoted(expanded: Expansion, path: Path, value: unknown): string {
  const written = expanded.written(path);
  const text = written ?? value;
  return typeof text === 'string' ? JSON.stringify(text) : quote(text);
}

function asWritten(expanded: Expansion, path: Path, value: Json): Json {
  if (typeof value === 'string') return expanded.written(path) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json, index) => asWritten(expanded, [...path, index], item));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, asWritten(expanded, [...path, key], item)]),
  );
}
