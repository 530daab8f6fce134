import { shortDigest } from '../../base/digest.ts';
import { behaviourLevels, resolvePrompt, type Path } from '../../assembly/resolve.ts';
import { TreadleError } from '../../base/errors.ts';
import { oneLine, tryParseJson } from '../../base/json.ts';
import { checkScript } from '../../adapters/models/script.ts';
import { insideFolder, readText } from './bundle-files.ts';
import type { Declared } from './declare.ts';
import { declaredModels } from '../models/declared-models.ts';
import type { Problems } from './problems.ts';

/** Text files that a bundle names. A file that cannot be read is a problem. */
export class NamedFiles {
  /** By the name in the bundle. */
  readonly digests: Record<string, string> = {};
  readonly #folder: string;
  readonly #declared: Declared;
  readonly #problems: Problems;

  constructor(folder: string, declared: Declared, problems: Problems) {
    this.#folder = folder;
    this.#declared = declared;
    this.#problems = problems;
  }

  prompt(agent: string): string {
    const found = resolvePrompt(behaviourLevels(this.#declared.bundle, agent));
    if (found === undefined) return '';
    return found.key === 'system_prompt_file' ? (this.#read(found.value, found.from) ?? '') : found.value;
  }

  /** The scripts of scripted models are run by the model; here they have to be well-formed, and count for the revision. */
  readScripts(): void {
    for (const { model, at } of declaredModels(this.#declared.bundle)) {
      if (model.script !== undefined) this.#readScript(model.script, [...at, 'script']);
    }
  }

  /** A script that is a module is checked when it runs. */
  #readScript(named: string, at: Path): void {
    const text = this.#read(named, at);
    if (text === undefined || !named.endsWith('.json')) return;
    const place = this.#declared.place(at);
    try {
      const parsed = tryParseJson(text);
      if (parsed.ok) checkScript(parsed.value, place);
      else {
        const found = `${this.#declared.quoted(at, named)}, which is not JSON`;
        throw new TreadleError('script_invalid', { place, found, wanted: 'valid JSON', hint: oneLine(parsed.problem) });
      }
    } catch (error) {
      this.#problems.take(error);
    }
  }

  #read(named: string, at: Path): string | undefined {
    try {
      const place = this.#declared.place(at);
      const text = readText(insideFolder(this.#folder, named, place, this.#declared.quoted(at, named)), place);
      this.digests[named] = shortDigest(text);
      return text;
    } catch (error) {
      this.#problems.take(error);
      return undefined;
    }
  }
}
