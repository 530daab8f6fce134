// Builds the page where its sources have changed since it was built last.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './ensure-installed.mjs';

const STAMP = path.join(root, 'dist/web/.sources');

/** `node` is the Node to build with. Returns false when the page cannot be built; what went wrong is on stderr then. */
export function ensurePage(node) {
  const sources = digestOfSources();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === sources) return true;
  console.error('Building the page. This takes a few seconds…');
  const vite = path.join(root, 'node_modules/vite/bin/vite.js');
  const { status, stdout, stderr } = spawnSync(node, [vite, 'build', '--logLevel', 'warn'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) {
    console.error(stdout + stderr);
    return false;
  }
  writeFileSync(STAMP, sources);
  return true;
}

/** By content: file times change with every checkout. */
function digestOfSources() {
  const hash = createHash('sha256');
  const page = readdirSync(path.join(root, 'web'), { recursive: true }).map((file) => path.join('web', file));
  const files = ['package-lock.json', 'vite.config.ts', ...page.sort()].filter((file) =>
    statSync(path.join(root, file)).isFile(),
  );
  for (const file of files) hash.update(file).update(readFileSync(path.join(root, file)));
  return hash.digest('hex');
}
