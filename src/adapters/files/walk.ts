import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import ignore, { type Ignore } from 'ignore';
import picomatch from 'picomatch';
import type { RootedFiles } from '../../kernel/files.ts';

/** The rules of one folder's `.gitignore`, which are about paths from that folder. */
export interface Rules {
  readonly base: string;
  readonly rules: Ignore;
}

/**
 * The files under a folder in the order of their paths, as paths from the root: none that a `.gitignore` leaves out or the
 * bundle hides, nothing of git's own, and no links.
 */
export async function* walk(files: RootedFiles, under: string, signal: AbortSignal): AsyncGenerator<string> {
  const rules = await rulesAbove(files, under);
  if (rules !== 'ignored') yield* walkFolder(files, under, rules, signal);
}

/** What the folders above one say of it and of what is in it. */
export async function rulesAbove(files: RootedFiles, under: string): Promise<readonly Rules[] | 'ignored'> {
  const names = under === '' ? [] : under.split('/');
  let rules: readonly Rules[] = [];
  for (let depth = 0; depth < names.length; depth++) {
    rules = await withRulesOf(files, names.slice(0, depth).join('/'), rules);
    if (isIgnored(names.slice(0, depth + 1).join('/'), true, rules)) return 'ignored';
  }
  return rules;
}

async function* walkFolder(
  files: RootedFiles,
  folder: string,
  above: readonly Rules[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  signal.throwIfAborted();
  const rules = await withRulesOf(files, folder, above);
  let entries;
  try {
    entries = await readdir(path.join(files.root, folder), { withFileTypes: true });
  } catch {
    return; // it is gone, or nobody may read it
  }
  for (const entry of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
    const own = folder === '' ? entry.name : `${folder}/${entry.name}`;
    const isFolder = entry.isDirectory();
    if ((isFolder && entry.name === '.git') || isIgnored(own, isFolder, rules) || files.isHidden(own)) continue;
    if (isFolder) yield* walkFolder(files, own, rules, signal);
    else if (entry.isFile()) yield own;
  }
}

async function withRulesOf(files: RootedFiles, folder: string, above: readonly Rules[]): Promise<readonly Rules[]> {
  let text: string;
  try {
    text = await readFile(path.join(files.root, folder, '.gitignore'), 'utf8');
  } catch {
    return above;
  }
  return [...above, { base: folder, rules: ignore({ ignorecase: false }).add(text) }];
}

/** The nearest folder that says something has the last word. */
function isIgnored(own: string, isFolder: boolean, rules: readonly Rules[]): boolean {
  for (const { base, rules: known } of rules.toReversed()) {
    const relative = base === '' ? own : own.slice(base.length + 1);
    const { ignored, unignored } = known.test(isFolder ? `${relative}/` : relative);
    if (ignored || unignored) return ignored;
  }
  return false;
}

/** Whether a path from the folder fits a glob: one without a slash is about the name alone. */
export function globMatcher(glob: string): (path: string) => boolean {
  return picomatch(glob.replace(/^\.?\//, ''), { dot: true, basename: !glob.includes('/'), nonegate: true });
}
