// What a fresh process pays: milliseconds over an empty node process, in interleaved rounds with a warm page cache.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SubjectInfo } from './subjects.ts';

const root = path.join(import.meta.dirname, '..');

interface Start {
  readonly subject: string;
  readonly metric: string;
  readonly args: readonly string[];
  /** Measured to the first byte that it prints, not to its end. */
  readonly toFirstByte?: boolean;
}

/** By metric, then by subject. */
export type StartupNumbers = Map<string, Map<string, number[]>>;

export async function measureStartup(peers: readonly SubjectInfo[], rounds: number): Promise<StartupNumbers> {
  const starts = [...treadleStarts(), ...peers.flatMap(peerStart)];
  const numbers: StartupNumbers = new Map();
  const quiet = await time({ subject: '', metric: '', args: ['--eval', '0'] });
  if (quiet === undefined) throw new Error('node does not start');
  for (const start of starts) await time(start);
  for (let round = 0; round < rounds; round++) {
    const empty = (await time({ subject: '', metric: '', args: ['--eval', '0'] })) ?? quiet;
    for (const start of round % 2 === 0 ? starts : [...starts].reverse()) {
      const ms = await time(start);
      if (ms === undefined) continue;
      const bySubject = numbers.get(start.metric) ?? new Map<string, number[]>();
      numbers.set(start.metric, bySubject);
      bySubject.set(start.subject, [...(bySubject.get(start.subject) ?? []), ms - empty]);
    }
  }
  return numbers;
}

/** What is shipped is compiled, so what is measured is, too. Returns the folder, or undefined when it does not compile. */
export function compile(): string | undefined {
  const dist = path.join(root, 'node_modules/.cache/treadle-bench/dist');
  mkdirSync(dist, { recursive: true });
  copyFileSync(path.join(root, 'package.json'), path.join(dist, '../package.json')); // where the command reads its version
  const typescript = path.dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
  const args = [path.join(typescript, 'bin/tsc'), '-p', 'tsconfig.build.json', '--outDir', dist];
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'ignore' }).status === 0 ? dist : undefined;
}

function treadleStarts(): Start[] {
  const dist = compile();
  if (dist === undefined) return [];
  const subject = 'Treadle';
  const starts: Start[] = [];
  const add = (file: string, start: (file: string) => Omit<Start, 'subject'>) => {
    if (existsSync(path.join(dist, file))) starts.push({ subject, ...start(path.join(dist, file)) });
  };
  add('loop/drive.js', (file) => ({ metric: 'loop', args: importing(pathToFileURL(file).href) }));
  add('index.js', (file) => ({ metric: 'all', args: importing(pathToFileURL(file).href) }));
  add('cli/main.js', (file) => ({ metric: 'version', args: [file, '--version'] }));
  const bundle = path.join(root, 'agents/exposure.yaml');
  const once = ['run', bundle, '8k in 10k', '--memory', '--quiet'];
  add('cli/main.js', (file) => ({ metric: 'oneShot', args: [file, ...once], toFirstByte: true }));
  return starts;
}

function peerStart({ name, package: specifier }: SubjectInfo): Start[] {
  return specifier === undefined ? [] : [{ subject: name, metric: 'all', args: importing(specifier) }];
}

const importing = (specifier: string) => ['--input-type=module', '--eval', `await import('${specifier}')`];

/** Milliseconds, or undefined when the process failed. */
async function time({ args, toFirstByte = false }: Start): Promise<number | undefined> {
  const started = performance.now();
  const child = spawn(process.execPath, [...args], {
    cwd: import.meta.dirname,
    stdio: ['ignore', toFirstByte ? 'pipe' : 'ignore', 'ignore'],
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  let first: number | undefined;
  child.stdout?.once('data', () => (first = performance.now() - started));
  const [code] = await ended;
  return code === 0 ? (toFirstByte ? first : performance.now() - started) : undefined;
}
