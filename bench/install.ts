// The peers, installed here and nowhere else, and what each weighs with all that it brings.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { SubjectInfo } from './subjects.ts';

const here = import.meta.dirname;
const root = path.join(here, '..');

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}

interface Locked {
  readonly dev?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** False when the peers cannot be had; the floor and Treadle can be measured without them. */
export function ensurePeers(): boolean {
  if (existsSync(path.join(here, 'node_modules/.package-lock.json'))) return true;
  console.error('Installing the packages to compare with, under bench/. This takes about half a minute…');
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: here,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status === 0) return true;
  console.error('They could not be installed; what npm said is above. The table has no peers.');
  return false;
}

/** Megabytes on disk of a package and everything it needs. */
export function peerSize({ package: name }: SubjectInfo): number | undefined {
  if (name === undefined) return undefined;
  const lock = readLock(here);
  const found = new Set<string>();
  const visit = (where: string) => {
    if (found.has(where)) return;
    found.add(where);
    const { dependencies, optionalDependencies, peerDependencies } = lock.packages[where] ?? {};
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const at = resolve(lock, where, dependency);
      if (at !== undefined) visit(at);
    }
  };
  visit(`node_modules/${name}`);
  return sum([...found].map((where) => path.join(here, where)));
}

/** The same of Treadle, as compiled to `dist`. */
export function treadleSize(dist: string | undefined): number | undefined {
  if (dist === undefined) return undefined;
  const { packages } = readLock(root);
  const needed = Object.keys(packages).filter((where) => where !== '' && packages[where]?.dev !== true);
  return sum([dist, ...needed.map((where) => path.join(root, where))]);
}

function readLock(folder: string): Lock {
  return JSON.parse(readFileSync(path.join(folder, 'package-lock.json'), 'utf8')) as Lock;
}

/** Where node would find it: next to the package that asks, or in a folder above. */
function resolve(lock: Lock, from: string, name: string): string | undefined {
  for (let above = from; ; above = above.slice(0, Math.max(0, above.lastIndexOf('/node_modules/')))) {
    const where = above === '' ? `node_modules/${name}` : `${above}/node_modules/${name}`;
    if (lock.packages[where] !== undefined) return where;
    if (above === '' || !above.includes('/node_modules/')) {
      return lock.packages[`node_modules/${name}`] === undefined ? undefined : `node_modules/${name}`;
    }
  }
}

function sum(folders: readonly string[]): number {
  return folders.map(sizeOf).reduce((total, one) => total + one, 0) / 2 ** 20;
}

/** Without packages nested in it: each is counted as itself. */
function sizeOf(folder: string): number {
  if (!existsSync(folder)) return 0; // an optional package of another system
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue;
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) bytes += sizeOf(at);
    else if (entry.isFile()) bytes += statSync(at).size;
  }
  return bytes;
}
