import path from 'node:path';
import process from 'node:process';

/** How whoever reads a hint starts this program: in a clone there is no `treadle` on the path. */
export function commandName(): string {
  const main = process.argv[1] ?? '';
  if (!main.replaceAll('\\', '/').endsWith('src/cli/main.ts')) return 'treadle';
  return process.cwd() === path.join(main, '../../..') ? 'npm run treadle --' : `node ${main}`;
}
