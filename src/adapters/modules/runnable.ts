import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * The file that Node can import in the place of this one.
 *
 * Node runs TypeScript as written, except under `node_modules` (nodejs.org/api/typescript.html): there a package ships
 * the JavaScript beside it, and that is imported instead.
 */
export function runnable(file: string): string {
  if (!/\.[cm]?ts$/.test(file) || !path.resolve(file).split(path.sep).includes('node_modules')) return file;
  const built = file.replace(/ts$/, 'js');
  return existsSync(built) ? built : file;
}
