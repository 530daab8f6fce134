import { z } from 'zod';
import type { FileSearch, FoundLine } from '../../../kernel/file-search.ts';
import { head } from '../../../base/text.ts';
import type { ToolReturn } from '../../../kernel/running-tool.ts';
import { defineTool, toolFailure, toolResult, type ToolSpec } from '../../../kernel/tool.ts';
import { withFiles } from './rooted.ts';

const MOST_ENTRIES = 500;
const LONGEST_LINE = 300;

const under = z.string().max(4_096).default('').describe('The folder to look in. Leave it out for the whole folder.');

/** Looking around: what is there, what it is called, what it says. */
export function lookingTools(search: FileSearch): readonly ToolSpec[] {
  const list = defineTool({
    name: 'files_list',
    description: 'List what is in one folder: a / stands behind folders, the size in bytes behind files.',
    input: z.strictObject({ path: under }),
    effect: 'read',
    run: ({ path }, context) =>
      withFiles(context, async (files) => {
        const entries = await files.list(path);
        const shown = entries.slice(0, MOST_ENTRIES).map(({ path: own, kind, size }) => {
          const name = own.split('/').at(-1) ?? own;
          return kind === 'folder' ? `${name}/` : `${name}  ${size}`;
        });
        return lines(shown, { entries: entries.length, ...(entries.length > MOST_ENTRIES && { shown: MOST_ENTRIES }) });
      }),
  });
  const find = defineTool({
    name: 'files_find',
    description:
      'Find files by their names: *.ts is any folder, src/**/*.ts is below src, {a,b} is either. What .gitignore leaves ' +
      'out is left out.',
    input: z.strictObject({
      glob: z.string().min(1).max(500).describe('Such as *.test.ts or src/**/index.*'),
      path: under,
      limit: z.int().min(1).max(1_000).default(200).describe('Files to name, at most.'),
    }),
    effect: 'read',
    run: ({ glob, path, limit }, context) =>
      withFiles(context, async (files) => {
        const { paths, isCut } = await search.find(files, { under: path, glob, limit }, context.signal);
        return lines(paths, { files: paths.length, ...(isCut && { more: true }) });
      }),
  });
  const grep = defineTool({
    name: 'files_grep',
    description:
      'Find lines of text files by a regular expression (RE2 syntax, no look-around), or by the text itself with ' +
      'literal. Gives path:line: text; lines around a match have - instead of the second colon. What .gitignore leaves out ' +
      'is left out.',
    input: z.strictObject({
      pattern: z.string().min(1).max(1_000).describe('Such as function\\s+\\w+'),
      path: z.string().max(4_096).default('').describe('A file, or the folder to look in.'),
      glob: z.string().min(1).max(500).optional().describe('Only files that this matches, such as *.md'),
      literal: z.boolean().default(false).describe('The pattern is the text itself.'),
      ignore_case: z.boolean().default(false).describe('Letters of either case are alike.'),
      context: z.int().min(0).max(10).default(0).describe('Lines to show around each match.'),
      limit: z.int().min(1).max(1_000).default(100).describe('Matches to show, at most.'),
    }),
    effect: 'read',
    run: ({ pattern, path, glob, literal, ignore_case, context: around, limit }, context) =>
      withFiles(context, async (files) => {
        const query = {
          pattern,
          under: path,
          glob,
          isLiteral: literal,
          ignoreCase: ignore_case,
          context: around,
          limit,
        };
        const found = await search.grep(files, query, context.signal);
        if (!found.ok) return toolFailure('pattern', `The pattern is not understood: ${found.problem}.`);
        const matches = found.lines.filter((one) => one.isMatch);
        return lines(found.lines.map(told), {
          matches: matches.length,
          files: new Set(matches.map((one) => one.path)).size,
          ...(found.isCut && { more: true }),
        });
      }),
  });
  return [list, find, grep];
}

function told({ path, line, text, isMatch }: FoundLine): string {
  const shown = text.length <= LONGEST_LINE ? text : `${head(text, LONGEST_LINE)}…`;
  return isMatch ? `${path}:${line}: ${shown}` : `${path}:${line}- ${shown}`;
}

function lines(shown: readonly string[], value: Record<string, number | boolean>): ToolReturn {
  return toolResult({
    value,
    ...(shown.length > 0 && { content: [{ type: 'text', text: shown.join('\n'), format: 'terminal' }] }),
  });
}
