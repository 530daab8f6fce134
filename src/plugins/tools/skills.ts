import { z } from 'zod';
import type { MaybePromise } from '../../base/promise.ts';
import type { Conversation } from '../../domain/conversation.ts';
import { iterationsOf } from '../../domain/conversation.ts';
import { SKILLS_GROUP, type ShownSkill } from '../../domain/skill.ts';
import type { ToolContext } from '../../kernel/running-tool.ts';
import { defineTool, toolFailure, toolResult, type BuiltinGroup } from '../../kernel/tool.ts';
import { pageInput, textPage } from './text-page.ts';

/** The skills of one agent by id, as they are kept. Whether a turn has one is for its effective agent to say. */
export interface SkillLibrary {
  text(id: string): { readonly text: string; readonly version?: string | undefined } | undefined;
  files(id: string): { readonly files: readonly string[]; readonly isCut: boolean };
  read(id: string, path: string): MaybePromise<SkillFile>;
}

export type SkillFile =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: true; readonly mediaType: string; readonly data: string }
  | { readonly ok: false; readonly why: string };

const LONGEST_TEXT = 65_536;
const MOST_FOUND = 10;

const skill = z.string().min(1).max(200).describe('The skill, as it is listed.');

/** The tools that read skills. They know no folder: a skill is looked up among those of the turn, and then in the library. */
export function skillsGroup(library: SkillLibrary): BuiltinGroup {
  const load = defineTool({
    name: 'skills_load',
    description:
      'Load a skill: instructions for a kind of work. They come right after this result and hold from then on. Load one ' +
      'before you begin work that it is for; one that was loaded before need not be loaded again.',
    input: z.strictObject({ skill }),
    effect: 'read',
    repeatable: true,
    run({ skill: named }, context) {
      const found = ofTurn(named, context);
      const kept = found === undefined ? undefined : library.text(found.id);
      if (found === undefined || kept === undefined) return unknown(named, context);
      const { files, isCut } = library.files(found.id);
      const value = {
        skill: found.id,
        ...(kept.version === undefined ? {} : { version: kept.version }),
        ...(files.length === 0 ? {} : { files, read_with: 'skills_read' }),
        ...(isCut ? { note: 'it has more files than are listed' } : {}),
      };
      if (isLoaded(found, context.conversation))
        return toolResult({ value: { ...value, loaded: 'before, and it still holds' } });
      const version = `${kept.version ?? ''}${kept.version === undefined ? '' : ' '}${found.digest}`;
      const text =
        kept.text.length <= LONGEST_TEXT
          ? kept.text
          : `${kept.text.slice(0, LONGEST_TEXT).toWellFormed()}\n[the rest: skills_read SKILL.md from offset ${LONGEST_TEXT}]`;
      return toolResult({ value, skill: { name: found.id, version, text } });
    },
  });
  const read = defineTool({
    name: 'skills_read',
    description:
      'Read a file of a skill by its path, such as references/FORMS.md. Long texts come in pages: call again with ' +
      'next_offset until it is null.',
    input: z.strictObject({
      skill,
      path: z.string().min(1).max(500).describe('The path of the file in the skill.'),
      ...pageInput({ standard: 8_000, most: 12_000 }),
    }),
    effect: 'read',
    async run({ skill: named, path, offset, limit }, context) {
      const found = ofTurn(named, context);
      if (found === undefined) return unknown(named, context);
      const file = await library.read(found.id, path);
      if (!file.ok) return toolFailure('unknown_file', file.why);
      if ('data' in file) {
        return toolResult({ content: [{ type: 'file', mediaType: file.mediaType, name: path, data: file.data }] });
      }
      return textPage(file.text, { offset, limit }, context);
    },
  });
  const search = defineTool({
    name: 'skills_search',
    description: 'Find skills by words of what they are for, also those that the list has no room for.',
    input: z.strictObject({ words: z.string().min(1).max(200).describe('A few words.') }),
    effect: 'read',
    run({ words }, context) {
      const wanted = words.toLowerCase().split(/\W+/).filter(Boolean);
      const scored = skillsOf(context).map(({ id, description }) => {
        const text = `${id} ${description}`.toLowerCase();
        return { skill: id, description, score: wanted.filter((word) => text.includes(word)).length };
      });
      const best = scored.filter(({ score }) => score > 0).sort((one, other) => other.score - one.score);
      return {
        skills: best.slice(0, MOST_FOUND).map(({ skill: id, description }) => ({ skill: id, description })),
        found: best.length,
      };
    },
  });
  return { name: SKILLS_GROUP, locked: true, tools: [load, read, search] };
}

function skillsOf({ conversation }: ToolContext): readonly ShownSkill[] {
  return conversation.turn?.agent.skills ?? [];
}

/** By id, or by name where only one has it. A name is looked up and never made into a path. */
function ofTurn(named: string, context: ToolContext): ShownSkill | undefined {
  const skills = skillsOf(context);
  const exact = skills.find(({ id }) => id === named);
  if (exact !== undefined) return exact;
  const same = skills.filter(({ id }) => id.slice(id.indexOf('.') + 1) === named);
  return same.length === 1 ? same[0] : undefined;
}

function unknown(named: string, context: ToolContext) {
  const out = context.conversation.turn?.agent.hiddenSkills?.find(({ name }) => name === named);
  if (out !== undefined) return toolFailure('unavailable', `The skill ${named} is out: ${out.why}.`);
  const names = skillsOf(context).map(({ id }) => id);
  return toolFailure(
    'unknown_skill',
    `There is no skill ${JSON.stringify(named)}. There is ${names.slice(0, 50).join(', ') || 'none'}.`,
  );
}

/** Whether the model still has the text before it: it was loaded, and not in a turn that a summary now stands for. */
function isLoaded({ id, digest }: ShownSkill, { turns, turn, summary }: Conversation): boolean {
  const all = [...turns, ...(turn === undefined ? [] : [turn])];
  return all.some((one) => {
    if (one.number <= (summary?.through ?? 0)) return false;
    const loaded = [...one.skills, ...[...iterationsOf(one)].flatMap(({ skills }) => skills ?? [])];
    return loaded.some(({ name, version }) => name === id && (version ?? '').endsWith(digest));
  });
}
