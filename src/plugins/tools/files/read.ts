import { z } from 'zod';
import { head, utf8Length } from '../../../base/text.ts';
import type { FileProgress, RootedFiles } from '../../../kernel/files.ts';
import type { ToolContext, ToolReturn } from '../../../kernel/running-tool.ts';
import { defineTool, toolFailure, toolResult } from '../../../kernel/tool.ts';
import { digestOf, keepInMind } from './known.ts';
import { withFiles } from './rooted.ts';

const MOST_LINES = 2_000;
const LONGEST_LINE = 2_000;
/** Of what a result may have, the part that the numbers of lines and the rest of the answer leave. */
const SHARE = 0.9;
/** Bytes of a picture: more than any model takes. */
const MOST_PICTURE_BYTES = 4_500_000;

const input = z.strictObject({
  path: z.string().min(1).max(4_096).describe('The file, from the folder that you work in.'),
  start_line: z.int().min(1).default(1).describe('The first line to read; the first of the file is 1.'),
  lines: z.int().min(1).max(MOST_LINES).default(MOST_LINES).describe('Lines to read, at most.'),
});

export const readTool = defineTool({
  name: 'files_read',
  description:
    'Read a file. Text comes with the number of each line and a tab before it, which are not part of the file; a long ' +
    'file comes in pages: call again with start_line set to next_line until it is null. Pictures are shown. Read a file ' +
    'before you change it.',
  input,
  effect: 'read',
  run: (args, context) => withFiles(context, (files) => read(args, files, context)),
});

async function read(
  { path, start_line, lines: most }: z.output<typeof input>,
  files: RootedFiles,
  context: ToolContext,
): Promise<ToolReturn> {
  const found = await files.stat(path);
  const bytes = await files.read(path, { progress: asProgress(context, path) });
  const own = found?.path ?? path;
  const mediaType = pictureType(bytes);
  if (mediaType !== undefined) {
    if (bytes.length > MOST_PICTURE_BYTES) {
      return toolFailure(
        'too_large',
        `${own} is a picture of ${bytes.length} bytes; at most ${MOST_PICTURE_BYTES} are shown.`,
      );
    }
    const data = toBase64(bytes);
    return toolResult({
      value: { path: own, bytes: bytes.length },
      content: [{ type: 'file', mediaType, name: own, data }],
    });
  }
  const text = textOf(bytes);
  if (text === undefined)
    return toolFailure('binary', `${own} is no text: it has ${bytes.length} bytes of something else.`);
  const all = linesOf(text);
  if (start_line > Math.max(1, all.length)) {
    return toolFailure('past_end', `${own} has ${all.length} lines; line ${start_line} is past its end.`);
  }
  const room = (context.conversation.turn?.agent.limits.maxResultBytes ?? Infinity) * SHARE;
  const shown = page(all, start_line, most, room);
  const next = start_line + shown.length;
  const digest = digestOf(bytes);
  keepInMind(context, own, digest);
  return toolResult({
    value: {
      path: own,
      lines: all.length,
      next_line: next <= all.length ? next : null,
      digest,
    },
    ...(shown.length > 0 && { content: [{ type: 'text', text: shown.join('\n') }] }),
  });
}

function page(all: readonly string[], from: number, most: number, room: number): readonly string[] {
  const shown: string[] = [];
  let used = 0;
  for (let number = from; number < from + most && number <= all.length; number++) {
    const line = all[number - 1] ?? '';
    const whole = line.length <= LONGEST_LINE ? line : `${head(line, LONGEST_LINE)}… (${line.length} characters)`;
    const numbered = `${number}\t${whole}`;
    used += utf8Length(numbered) + 1;
    if (used > room && shown.length > 0) break;
    shown.push(numbered);
  }
  return shown;
}

/** Lines without their ends; none after the last line break. */
export function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Text, a byte order mark with it; undefined for what is none. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Tells whoever watches how far a large file is. */
export function asProgress({ progress }: ToolContext, path: string): FileProgress {
  return (done, total) =>
    progress({ text: `${path}: ${done} of ${total} bytes`, fraction: total === 0 ? 1 : done / total });
}

const PICTURES: readonly (readonly [type: string, at: number, bytes: readonly number[]])[] = [
  ['image/png', 0, [0x89, 0x50, 0x4e, 0x47]],
  ['image/jpeg', 0, [0xff, 0xd8, 0xff]],
  ['image/gif', 0, [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', 8, [0x57, 0x45, 0x42, 0x50]],
];

/** By what is in it: a name says nothing. */
function pictureType(bytes: Uint8Array): string | undefined {
  return PICTURES.find(([, at, start]) => start.every((byte, index) => bytes[at + index] === byte))?.[0];
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += 32_768) binary += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return btoa(binary);
}
