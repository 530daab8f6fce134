import type { FileSearch } from '../../kernel/file-search.ts';
import { compilePattern, fromFolder, plainGrep } from './plain-grep.ts';
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
    const found = (await ripgrep(files, query, signal)) ?? (await plainGrep(files, query, pattern.fits, signal));
    return { ok: true, ...found };
  },
};

/** The path from the root by which it is really reached. Rejects where it is not there, or is not to be reached. */
async function folderOf(files: Parameters<FileSearch['find']>[0], named: string): Promise<string> {
  const found = await files.stat(named);
  if (found === undefined) {
    await files.read(named); // says why
    return named;
  }
  return found.path;
}
