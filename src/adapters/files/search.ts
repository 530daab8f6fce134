import type { FileSearch, FoundLine } from '../../kernel/file-search.ts';
import type { RootedFiles } from '../../kernel/files.ts';
import { compilePattern, fromFolder, linesOf, plainGrep } from './plain-grep.ts';
import { ripgrep } from './ripgrep.ts';
import { globMatcher, walk } from './walk.ts';

/** Looks through files: with ripgrep where the system has it, else by itself, with the same result. */
export const fileSearch: FileSearch = {
  async find(files, { under: named, glob, limit }, signal) {
    const under = await folderOf(files, named);
    const fits = globMatcher(glob);
    const paths: string[] = [];
    for await (const path of walk(files, under, signal)) {
      if (!fits(fromFolder(path, under))) continue;
      if (paths.length === limit) return { paths, isCut: true };
      paths.push(path);
    }
    return { paths, isCut: false };
  },
  async grep(files, given, signal) {
    const pattern = compilePattern(given);
    if (!pattern.ok) return pattern;
    const query = { ...given, under: await folderOf(files, given.under) };
    const fast = await ripgrep(files, query, signal);
    if (fast === undefined) return { ok: true, ...(await plainGrep(files, query, pattern.fits, signal)) };
    return { ok: true, lines: await readHere(files, fast.lines), isCut: fast.isCut };
  },
};

/**
 * The lines that stand in files of the root. Another program looks by paths, and a folder may have become a link while it
 * did: what it says counts where the file, opened as any other, says the same.
 */
async function readHere(files: RootedFiles, lines: readonly FoundLine[]): Promise<readonly FoundLine[]> {
  const texts = new Map<string, readonly string[] | undefined>();
  for (const path of new Set(lines.map((one) => one.path))) texts.set(path, await linesOf(files, path));
  return lines.filter(({ path, line, text }) => texts.get(path)?.[line - 1]?.replace(/\r$/, '') === text);
}

/** The path from the root by which it is really reached. Rejects where it is not there, or is not to be reached. */
async function folderOf(files: RootedFiles, named: string): Promise<string> {
  const found = await files.stat(named);
  if (found === undefined) {
    await files.read(named); // says why
    return named;
  }
  return found.path;
}
