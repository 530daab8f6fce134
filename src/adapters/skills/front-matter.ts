import { parse } from 'yaml';
import { isObject, oneLine } from '../../base/json.ts';
import { head } from '../../base/text.ts';
import { LONGEST_SKILL_DESCRIPTION, LONGEST_SKILL_NAME, SKILL_NAME } from '../../domain/skill.ts';

/** What a SKILL.md says of itself. */
export interface FrontMatter {
  readonly name: string;
  readonly description: string;
  readonly version: string | undefined;
  readonly namespace: string | undefined;
  /** Tools without which the skill is of no use. */
  readonly requires: readonly string[];
  /** The text after the front matter. */
  readonly body: string;
}

export type ReadSkill =
  | { readonly ok: true; readonly skill: FrontMatter; readonly remarks: readonly string[] }
  | { readonly ok: false; readonly problem: string };

const FENCED = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/;
const KNOWN = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools'];
/** Of other systems, whose skills load as they are. */
const TOLERATED = ['version', 'namespace', 'category', 'tags', 'author', 'created', 'when_to_use'];
const LONGEST_COMPATIBILITY = 500;

/**
 * The front matter of a skill by the Agent Skills format.
 *
 * What makes a skill useless is a problem; what only departs from the format is a remark, because skills travel.
 */
export function readFrontMatter(text: string, folder: string): ReadSkill {
  const fenced = FENCED.exec(text);
  if (fenced === null) return { ok: false, problem: 'it does not begin with front matter between two lines of ---' };
  let given: unknown;
  try {
    // Every scalar is text: a version of 1.0 stays one.
    given = parse(fenced[1] ?? '', { schema: 'failsafe', maxAliasCount: 10 });
  } catch (error) {
    return {
      ok: false,
      problem: `its front matter is not YAML: ${oneLine(error instanceof Error ? error.message : String(error))}`,
    };
  }
  if (!isObject(given)) return { ok: false, problem: 'its front matter has no keys' };
  const { name, description, compatibility, metadata, version, namespace } = given;
  const remarks: string[] = [];
  if (typeof name !== 'string' || name === '') return { ok: false, problem: 'it has no name' };
  if (!SKILL_NAME.test(name) || name.length > LONGEST_SKILL_NAME) {
    const wanted = `at most ${LONGEST_SKILL_NAME} lower-case letters, digits and single hyphens`;
    return { ok: false, problem: `its name ${JSON.stringify(head(name, 80))} is not ${wanted}` };
  }
  if (name !== folder) remarks.push(`its name ${name} is not the name of its folder`);
  if (typeof description !== 'string' || description.trim() === '')
    return { ok: false, problem: 'it has no description' };
  const about = oneLine(description);
  if (about.length > LONGEST_SKILL_DESCRIPTION) {
    remarks.push(`its description is longer than ${LONGEST_SKILL_DESCRIPTION} characters; the rest is left out`);
  }
  if (typeof compatibility === 'string' && compatibility.length > LONGEST_COMPATIBILITY) {
    remarks.push(`its compatibility is longer than ${LONGEST_COMPATIBILITY} characters`);
  }
  const extra = Object.keys(given).filter((key) => !KNOWN.includes(key) && !TOLERATED.includes(key));
  if (extra.length > 0) remarks.push(`the format has no ${extra.join(', ')}`);
  const more = isObject(metadata) ? metadata : {};
  return {
    ok: true,
    skill: {
      name,
      description: about.slice(0, LONGEST_SKILL_DESCRIPTION).toWellFormed(),
      version: textOf(more['version'] ?? version),
      namespace: textOf(more['namespace'] ?? namespace),
      requires: words(more['requires-tools'] ?? more['requires']),
      body: (fenced[2] ?? '').replace(/\r\n?/g, '\n').toWellFormed().trim(),
    },
    remarks,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function words(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.filter((one): one is string => typeof one === 'string');
  return typeof value === 'string' ? value.split(/[\s,]+/).filter((one) => one !== '') : [];
}
