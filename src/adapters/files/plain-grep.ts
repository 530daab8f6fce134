import { RE2JS } from 're2js';
import { FileRefusal, type RootedFiles } from '../../kernel/files.ts';
import type { FoundLine, GrepQuery } from '../../kernel/file-search.ts';
import { globMatcher, walk } from './walk.ts';

export type Pattern =
  { readonly ok: true; readonly fits: (line: string) => boolean } | { readonly ok: false; readonly problem: string };

/** A pattern that takes time in proportion to the text, whatever it is. */
export function compilePattern({ pattern, isLiteral, ignoreCase }: GrepQuery): Pattern {
  if (/[\n\r]/.test(pattern)) return { ok: false, problem: 'a pattern is about one line: it cannot have a line break' };
  try {
    const source = isLiteral ? RE2JS.quote(pattern) : pattern;
    const compiled = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    return { ok: true, fits: (line) => compiled.matcher(line).find() };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, problem: `${why}; the syntax is that of RE2, without look-around and back-references` };
  }
}

/** Looks through files one by one. */
export async function plainGrep(
  files: RootedFiles,
  query: GrepQuery,
  fits: (line: string) => boolean,
  signal: AbortSignal,
): Promise<{ readonly lines: readonly FoundLine[]; readonly isCut: boolean }> {
  const wanted = query.glob === undefined ? undefined : globMatcher(query.glob);
  const found: FoundLine[] = [];
  let matches = 0;
  const stated = await files.stat(query.under);
  const all = stated?.kind === 'file' ? [stated.path] : walk(files, query.under, signal);
  for await (const path of all) {
    const isNamed = stated?.kind === 'file';
    if (!isNamed && wanted?.(fromFolder(path, query.under)) === false) continue;
    const lines = await linesOf(files, path);
    if (lines === undefined) continue;
    for (const line of linesAround(lines, query.context, fits, path)) {
      if (line.isMatch && ++matches > query.limit) return { lines: withoutTail(found), isCut: true };
      found.push(line);
    }
  }
  return { lines: found, isCut: false };
}

/** Lines that were before a match that is not there have nothing to be around of. */
export function withoutTail(found: readonly FoundLine[]): readonly FoundLine[] {
  const last = found.findLastIndex((one) => one.isMatch);
  return found.slice(0, last + 1);
}

export function fromFolder(path: string, folder: string): string {
  return folder === '' ? path : path.slice(folder.length + 1);
}

/** Undefined for what is no text, or cannot be read. */
export async function linesOf(files: RootedFiles, path: string): Promise<readonly string[] | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await files.read(path);
  } catch (error) {
    if (error instanceof FileRefusal) return undefined;
    throw error;
  }
  if (bytes.includes(0)) return undefined;
  const lines = new TextDecoder().decode(bytes).split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function* linesAround(
  lines: readonly string[],
  context: number,
  fits: (line: string) => boolean,
  path: string,
): Generator<FoundLine> {
  let told = 0; // lines up to here are out
  let until = 0; // lines up to here follow a match
  for (const [index, text] of lines.entries()) {
    const number = index + 1;
    const isMatch = fits(text);
    if (isMatch) {
      for (let before = Math.max(told + 1, number - context); before < number; before++) {
        yield { path, line: before, text: bare(lines[before - 1] ?? ''), isMatch: false };
      }
      until = number + context;
    }
    if (isMatch || number <= until) {
      yield { path, line: number, text: bare(text), isMatch };
      told = number;
    }
  }
}

function bare(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
