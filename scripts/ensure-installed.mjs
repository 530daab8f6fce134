// Plain JavaScript for Node 18 and newer: this runs before the packages, and the Node they bring, are there.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Installs the packages if they are missing or stale, and returns the Node that can run the sources. */
export function ensureInstalled() {
  const stale = whatIsStale();
  if (stale !== undefined) install(stale);
  return findNode();
}

function readJson(name) {
  const file = path.join(root, name);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/**
 * Compares what is asked for with what is installed, by content: file times change with every checkout and would
 * reinstall for nothing, perhaps under the feet of a running server.
 */
function whatIsStale() {
  const installed = readJson('node_modules/.package-lock.json');
  if (!installed) return 'for the first time';
  const asked = readJson('package.json');
  const lock = readJson('package-lock.json');
  if (!lock || !sameDependencies(asked, lock.packages[''])) return 'because package.json has changed';
  const isInstalled = ([where, wanted]) =>
    where === '' || wanted.optional || installed.packages[where]?.version === wanted.version;
  if (!Object.entries(lock.packages).every(isInstalled)) return 'because package-lock.json has changed';
  return undefined;
}

function sameDependencies(asked, locked) {
  const text = (manifest) =>
    ['dependencies', 'devDependencies'].map((kind) => JSON.stringify(Object.entries(manifest[kind] ?? {}).sort()));
  return text(asked).join() === text(locked).join();
}

function install(why) {
  console.error(`Installing packages ${why}. This takes about half a minute…`);
  const started = Date.now();
  let result = npm('ci');
  // `npm ci` refuses a lockfile that does not match package.json; `npm install` brings it up to date.
  if (result.status !== 0 && /npm ci.* can only install|EUSAGE/.test(result.stderr)) result = npm('install');
  if (result.status !== 0) {
    console.error(result.error ? String(result.error) : result.stdout + result.stderr);
    console.error('The packages could not be installed; what npm said is above. Then try the same command again.');
    process.exit(1);
  }
  console.error(`Installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}

function npm(command) {
  // npm must not run on the Node inside node_modules that it is about to replace.
  const inside = path.join(root, 'node_modules');
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => !folder.startsWith(inside));
  return spawnSync('npm', [command, '--no-audit', '--no-fund', '--loglevel=error', '--include=dev'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, PATH: folders.join(path.delimiter) },
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function findNode() {
  const bundled = path.join(root, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(bundled)) return bundled;
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return process.execPath;
  console.error(
    `Treadle needs Node 22.18 or newer and this is ${process.version}. Packages that bring a newer one were installed ` +
      'without their install scripts. Run `npm ci --ignore-scripts=false`, or install a newer Node.',
  );
  process.exit(1);
}
