import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { shortDigest } from '../../base/digest.ts';
import { isObject } from '../../base/json.ts';
import { readFrontMatter } from './front-matter.ts';

/** A skill that was found and can be used. */
export interface FoundSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string | undefined;
  readonly requires: readonly string[];
  readonly text: string;
  readonly digest: string;
  /** Its folder, after symbolic links. */
  readonly folder: string;
}

/** What was found and is wrong: `folder` relative to where was looked. */
export interface Diagnostic {
  readonly folder: string;
  readonly text: string;
}

export interface Discovered {
  /** In the order of their ids. */
  readonly skills: readonly FoundSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

const FILE = 'SKILL.md';
const MOST_BYTES = 1_048_576;
const MOST_SKILLS = 200;
const DEEPEST = 3;
const NAMESPACE = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/**
 * The skills in a folder: each folder with a SKILL.md is one.
 *
 * Nothing is followed out of the folder, and one that is wrong costs itself only.
 */
export function discoverSkills(root: string): Discovered {
  const diagnostics: Diagnostic[] = [];
  const found = new Map<string, FoundSkill>();
  const realRoot = realpathSync(root);

  function visit(folder: string, depth: number): void {
    const shown = path.relative(root, folder) || '.';
    const tell = (text: string): void => void diagnostics.push({ folder: shown, text });
    let real: string;
    try {
      real = realpathSync(folder);
    } catch {
      tell('it cannot be read');
      return;
    }
    if (real !== realRoot && !real.startsWith(realRoot + path.sep)) {
      tell('it leads out of the folder of the skills');
      return;
    }
    if (existsSync(path.join(real, FILE))) {
      take(folder, real, tell);
      return;
    }
    if (depth === DEEPEST) return;
    for (const entry of readdirSync(real, { withFileTypes: true }).sort((one, other) =>
      one.name < other.name ? -1 : 1,
    )) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const inner = path.join(folder, entry.name);
      if (entry.isDirectory() || (entry.isSymbolicLink() && isFolder(inner))) visit(inner, depth + 1);
    }
  }

  function take(folder: string, real: string, tell: (text: string) => void): void {
    const file = realpathSync(path.join(real, FILE));
    if (!file.startsWith(realRoot + path.sep)) {
      tell(`its ${FILE} leads out of the folder of the skills`);
      return;
    }
    const text = textOf(file);
    if (text === undefined) {
      tell(`its ${FILE} is not UTF-8 text of at most ${MOST_BYTES} bytes`);
      return;
    }
    const read = readFrontMatter(text, path.basename(folder));
    if (!read.ok) {
      tell(read.problem);
      return;
    }
    const { skill, remarks } = read;
    for (const remark of remarks) tell(remark);
    const above = path.basename(path.dirname(folder));
    const namespace = [skill.namespace, path.dirname(folder) === root ? undefined : above, 'public'].find(
      (one): one is string => one !== undefined && NAMESPACE.test(one),
    );
    const id = `${namespace ?? 'public'}.${skill.name}`;
    if (found.has(id)) {
      tell(`there is another skill ${id}; the first counts`);
      return;
    }
    if (found.size === MOST_SKILLS) {
      tell(`there are more than ${MOST_SKILLS} skills; it is left out`);
      return;
    }
    const { name, description, version, requires, body } = skill;
    const needs = [...new Set([...requires, ...toolsFile(real, realRoot)])].sort();
    found.set(id, {
      id,
      name,
      description,
      version,
      requires: needs,
      text: body,
      digest: shortDigest(text),
      folder: real,
    });
  }

  visit(root, 0);
  return { skills: [...found.values()].sort((one, other) => (one.id < other.id ? -1 : 1)), diagnostics };
}

/** The tools that a KDCube skill says it cannot do without. */
function toolsFile(folder: string, root: string): readonly string[] {
  const file = path.join(folder, 'tools.yaml');
  if (!existsSync(file) || !realpathSync(file).startsWith(root + path.sep)) return [];
  try {
    const given: unknown = parse(textOf(file) ?? '');
    const entries: unknown = isObject(given) ? given['tools'] : given;
    const list: readonly unknown[] = Array.isArray(entries) ? entries : [];
    return list.flatMap((one) =>
      isObject(one) && one['required'] === true && typeof one['id'] === 'string' ? [one['id']] : [],
    );
  } catch {
    return [];
  }
}

function isFolder(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function textOf(file: string): string | undefined {
  try {
    if (!statSync(file).isFile() || statSync(file).size > MOST_BYTES) return undefined;
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch {
    return undefined;
  }
}
