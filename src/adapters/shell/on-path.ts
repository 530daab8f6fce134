import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * The name by which a shell finds the very file that a path names, or nothing where it would find another one, or none.
 *
 * The path has to be written with a folder of `searchPath` as it stands there: a link elsewhere may be another one by the
 * time that it runs.
 */
export function nameOnPath(program: string, searchPath: string): string | undefined {
  const name = path.posix.basename(program);
  const folders = searchPath.split(':').filter((folder) => folder.startsWith('/'));
  if (name === '' || !folders.some((folder) => path.posix.join(folder, name) === program)) return undefined;
  const first = folders.map((folder) => path.posix.join(folder, name)).find(isProgram);
  return first !== undefined && realOf(first) === realOf(program) ? name : undefined;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function realOf(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
