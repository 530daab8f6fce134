import { readFileSync, realpathSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { digest, shortDigest } from '../../base/digest.ts';
import { runnable } from './runnable.ts';

/** What a module exports, which may be anything. */
export interface ImportedModule {
  readonly module: unknown;
  /** Of its file, and of the files in the folder that it imports. */
  readonly digest: string;
  readonly files: readonly string[];
}

/** Says which content of a module is meant. Node knows a module by its whole URL. */
const MARK = 'edition';
/** Treadle itself is never imported a second time, whatever folder a bundle is in. */
const OWN = path.join(import.meta.dirname, '../..');

/** By file: the files that it imports. Of files that were named to `importEdited`, and those that they import. */
const imports = new Map<string, Set<string>>();
/** By file: the content that is known to Node without a mark. */
const unmarked = new Map<string, string>();
/** By file: how often it could not be imported. Node remembers what failed. */
const failures = new Map<string, number>();
const folders = new Set<string>();
let isHooked = false;

/**
 * Imports a file as it is now. One that was edited since, or that imports one that was, is imported anew, with all that it
 * imports in `folder`; packages stay what they are. What was imported before stays in memory: Node unloads no module.
 */
export async function importEdited(file: string, folder: string): Promise<ImportedModule> {
  hook();
  folders.add(realOf(folder));
  const real = realOf(runnable(file));
  imports.set(real, imports.get(real) ?? new Set());
  const before = digestOf(real);
  const first = unmarked.get(real) ?? before;
  unmarked.set(real, first);
  const failed = failures.get(real) ?? 0;
  const url = pathToFileURL(real);
  if (first !== before || failed > 0) url.searchParams.set(MARK, failed === 0 ? before : `${before}.${failed}`);
  try {
    const module: unknown = await import(url.href);
    const now = digestOf(real); // what it imports is known by now
    if (url.search === '') unmarked.set(real, now);
    return { module, digest: now, files: filesOf(real) };
  } catch (error) {
    failures.set(real, failed + 1);
    throw error;
  }
}

/** As Node names it: after symbolic links. */
function realOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file; // it is not there, which importing says
  }
}

/** The file, and those of the folder that it was last seen to import, at any depth. */
function filesOf(file: string): readonly string[] {
  const found = new Set([file]);
  for (const one of found) for (const next of imports.get(one) ?? []) found.add(next);
  return [...found];
}

function digestOf(file: string): string {
  const [whole = file, ...parts] = filesOf(file);
  if (parts.length === 0) return shortDigest(textOf(whole));
  return shortDigest(digest([whole, ...parts].sort().map((one) => [one, textOf(one)])));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // gone: whoever imports it fails, and says so
  }
}

/** From now on it is seen what the modules of bundles import. */
function hook(): void {
  if (isHooked) return;
  isHooked = true;
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const parent = own(context.parentURL);
      const child = own(resolved.url);
      if (parent === undefined || child === undefined || !imports.has(parent.pathname)) return resolved;
      imports.get(parent.pathname)?.add(child.pathname);
      if (!imports.has(child.pathname)) imports.set(child.pathname, new Set());
      if (parent.mark === null) return resolved;
      const url = new URL(resolved.url);
      url.searchParams.set(MARK, parent.mark);
      return { ...resolved, url: url.href };
    },
  });
}

/** A file of a bundle's folder that is no package's and not Treadle's. */
function own(url: string | undefined): { readonly pathname: string; readonly mark: string | null } | undefined {
  if (url?.startsWith('file:') !== true) return undefined;
  const pathname = fileURLToPath(url);
  const isOwn = [...folders].some((folder) => isWithin(folder, pathname));
  if (!isOwn || isWithin(OWN, pathname) || pathname.split(path.sep).includes('node_modules')) return undefined;
  return { pathname, mark: new URL(url).searchParams.get(MARK) };
}

function isWithin(folder: string, file: string): boolean {
  return file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}
