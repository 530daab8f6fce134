import { z } from 'zod';
import { isObject } from '../../../base/json.ts';
import type { Part } from '../../../domain/content.ts';
import { iterationsOf } from '../../../domain/conversation.ts';
import { FileRefusal, type RootedFiles } from '../../../kernel/files.ts';
import type { ToolContext, ToolReturn } from '../../../kernel/running-tool.ts';
import { defineTool, toolFailure, toolResult, type ToolSpec } from '../../../kernel/tool.ts';
import { edited, unedited } from './edits.ts';
import { digestOf, isKnown, keepInMind, loggedDigest } from './known.ts';
import { asProgress, textOf } from './read.ts';
import { withFiles } from './rooted.ts';

/** What becomes of a text, as a unified diff. Without a text before, the file is new. */
export type Diff = (path: string, before: string | undefined, after: string) => Promise<string>;

const path = z.string().min(1).max(4_096).describe('The file, from the folder that you work in.');

const writeInput = z.strictObject({
  path,
  content: z.string().max(5_000_000).describe('The whole content of the file, as it is to be.'),
});

const editInput = z.strictObject({
  path,
  edits: z
    .array(
      z.strictObject({
        old_text: z.string().min(1).describe('Text of the file, exactly as it stands there, without line numbers.'),
        new_text: z.string().describe('What takes its place.'),
        replace_all: z.boolean().optional().describe('Replace it wherever it stands, and not just once.'),
      }),
    )
    .min(1)
    .max(100)
    .describe('One after the other; all of them are made or none.'),
});

/** What a file is now. */
interface Current {
  readonly path: string;
  readonly bytes: Uint8Array | undefined;
  readonly text: string | undefined;
}

/** Writing: whole files, and pieces of them. */
export function writingTools(diff: Diff): readonly ToolSpec[] {
  const write = defineTool({
    name: 'files_write',
    description:
      'Write a whole file: a new one, or one that you have read and that nobody has changed since. To change a part of a ' +
      'file use files_edit.',
    input: writeInput,
    // The same content again is the same file.
    effect: 'idempotent',
    run: (args, context) =>
      withFiles(context, (files) =>
        alone(files, args.path, async () => {
          const now = await current(files, args.path);
          if (now.text === args.content) return written(context, now.path, now.text, now.text, diff);
          const stale = whyStale(now, context);
          if (stale !== undefined) return stale;
          return put(files, context, now, args.content, diff);
        }),
      ),
    preview: async ({ path: named, content }, { files }) => {
      if (files === undefined) return [];
      const now = await current(files, named);
      return [shown(await diff(now.path, now.text ?? (now.bytes && '(not text)'), content))];
    },
  });
  const edit = defineTool({
    name: 'files_edit',
    description:
      'Change pieces of a file that you have read: each old_text is replaced by its new_text. It has to stand in the file ' +
      'exactly once, spaces and all; give enough of what is around it.',
    input: editInput,
    effect: 'once',
    run: (args, context) =>
      withFiles(context, (files) =>
        alone(files, args.path, async () => {
          const now = await current(files, args.path);
          if (now.bytes === undefined)
            return toolFailure('not_found', `There is no ${now.path}: write it with files_write.`);
          if (now.text === undefined) return toolFailure('binary', `${now.path} is no text.`);
          const stale = whyStale(now, context);
          if (stale !== undefined) return stale;
          const made = edited(now.text, args.edits);
          if (!made.ok) return toolFailure(made.code, made.problem);
          return put(files, context, now, made.text, diff);
        }),
      ),
    /** The file is whole in any case: it has the edits, or it is what the conversation last knew of it. */
    probe: (_, context) =>
      withFiles(context, async (files) => {
        const args = begunWith(context);
        if (args === undefined) return unsure();
        const now = await current(files, args.path);
        const before = loggedDigest(context, now.path);
        if (now.bytes === undefined || now.text === undefined || before === undefined) return unsure();
        if (digestOf(now.bytes) === before) return NOT_YET;
        const was = unedited(now.text, args.edits);
        if (was === undefined || digestOf(new TextEncoder().encode(was)) !== before) return unsure();
        return written(context, now.path, was, now.text, diff);
      }).then((found) => (found === NOT_YET ? undefined : found)),
    preview: async ({ path: named, edits }, { files }) => {
      if (files === undefined) return [];
      const now = await current(files, named);
      const made = edited(now.text ?? '', edits);
      return [shown(made.ok ? await diff(now.path, now.text, made.text) : `It would fail: ${made.problem}\n`)];
    },
  });
  return [write, edit];
}

const NOT_YET = toolResult({ value: null });

/** The arguments of the action that a crash interrupted, as they stand in the log. */
function begunWith({ conversation: { turn }, actionId }: ToolContext): z.output<typeof editInput> | undefined {
  if (turn === undefined) return undefined;
  for (const { actions } of iterationsOf(turn)) {
    const begun = actions.find(({ action }) => action.id === actionId)?.begun;
    if (begun !== undefined && isObject(begun.arguments)) return editInput.safeParse(begun.arguments).data;
  }
  return undefined;
}

function unsure(): ToolReturn {
  const message = 'The program stopped while this ran, and the file has changed since. Read it before you go on.';
  return toolFailure('interrupted', message, { uncertain: true });
}

async function current(files: RootedFiles, named: string): Promise<Current> {
  const found = await files.stat(named);
  if (found === undefined) return { path: named.replace(/^(\.\/)+/, ''), bytes: undefined, text: undefined };
  const bytes = await files.read(named);
  return { path: found.path, bytes, text: textOf(bytes) };
}

/** Nobody overwrites what they have not seen. */
function whyStale({ path: own, bytes }: Current, context: ToolContext): ToolReturn | undefined {
  if (bytes === undefined) return undefined;
  const known = isKnown(context, own, digestOf(bytes));
  if (known === undefined) return toolFailure('not_read', `${own} is there already: read it before you change it.`);
  if (known) return undefined;
  return toolFailure('stale', `${own} has changed since you read it: read it again.`);
}

async function put(
  files: RootedFiles,
  context: ToolContext,
  now: Current,
  given: string,
  diff: Diff,
): Promise<ToolReturn> {
  const text = given.toWellFormed();
  const before = now.bytes === undefined ? undefined : digestOf(now.bytes);
  const { path: own } = await files.write(now.path, text, {
    progress: asProgress(context, now.path),
    unless(found) {
      if ((found === undefined ? undefined : digestOf(found)) === before) return;
      throw new FileRefusal('not_allowed', `${now.path} was changed by somebody else at this moment: read it again.`);
    },
  });
  return written(context, own, now.text, text, diff);
}

async function written(
  context: ToolContext,
  own: string,
  before: string | undefined,
  text: string,
  diff: Diff,
): Promise<ToolReturn> {
  const bytes = new TextEncoder().encode(text);
  const digest = digestOf(bytes);
  keepInMind(context, own, digest);
  const value = { path: own, bytes: bytes.length, digest };
  if (before === text) return toolResult({ value: { ...value, unchanged: true } });
  return toolResult({
    value: before === undefined ? { ...value, created: true } : value,
    // The model knows what it wrote.
    content: [{ ...shown(await diff(own, before, text)), audience: 'people' }],
  });
}

function shown(text: string): Extract<Part, { type: 'text' }> {
  return { type: 'text', text, format: 'diff' };
}

/** Changes of one file that are asked for side by side are made one after the other. */
const queues = new Map<string, Promise<unknown>>();

async function alone<T>(files: RootedFiles, named: string, act: () => Promise<T>): Promise<T> {
  const key = `${files.root}\n${(await files.stat(named))?.path ?? named}`;
  const before = queues.get(key) ?? Promise.resolve();
  const mine = before.then(act, act);
  queues.set(key, mine);
  try {
    return await mine;
  } finally {
    if (queues.get(key) === mine) queues.delete(key);
  }
}
