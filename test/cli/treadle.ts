import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { MaybePromise } from '../../src/base/promise.ts';

export const MAIN = path.join(import.meta.dirname, '../../src/cli/main.ts');
export const OUTCOMES = path.join(import.meta.dirname, 'fixtures/outcomes.yaml');
export const EXPOSURE = path.join(import.meta.dirname, '../../agents/exposure.yaml');

/** Nobody listens there: a model server of the machine that runs the tests is not found. */
const NOWHERE = 'http://127.0.0.1:9';

/** Compiled sources, so that the many processes of these tests start in half the time. */
const CACHE = path.join(import.meta.dirname, '../../node_modules/.cache/treadle-test');

/** The environment of a stranger: no keys, no model server, no colours asked for. */
export function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: tmpdir(),
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    NODE_COMPILE_CACHE: CACHE,
    OLLAMA_HOST: NOWHERE,
    LMSTUDIO_BASE_URL: NOWHERE,
    LLAMACPP_BASE_URL: NOWHERE,
    VLLM_BASE_URL: NOWHERE,
    ...more,
  };
}

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  /** What is piped in; nothing, as from /dev/null, when absent. */
  readonly input?: string;
  /** An open file for stdin, in place of `input`. */
  readonly stdin?: number;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A command that runs it, such as one that enters a namespace. */
  readonly through?: readonly string[];
}

/** The real command line, from its first byte to its exit code. */
export async function treadle(args: readonly string[], options: RunOptions): Promise<Ran> {
  const child = start(args, options);
  child.stdin?.on('error', () => undefined); // it may have read enough
  child.stdin?.end(options.input);
  return ended(child);
}

export function start(args: readonly string[], { input, stdin, cwd, env, through = [] }: RunOptions): ChildProcess {
  const [enter, ...entering] = through;
  const command = enter === undefined ? [] : [...entering, process.execPath];
  return spawn(enter ?? process.execPath, [...command, MAIN, ...args], {
    cwd,
    env: environment(env),
    stdio: [stdin ?? (input === undefined ? 'ignore' : 'pipe'), 'pipe', 'pipe'],
  });
}

export function ended(child: ChildProcess): Promise<Ran> {
  let out = '';
  let err = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

/** A working directory of its own, gone when the test is. */
export function workplace(t: { after(undo: () => void): void }): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'treadle-cli-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The one line of `--json`. */
export function summaryOf({ out }: Ran): Record<string, unknown> {
  return JSON.parse(out) as Record<string, unknown>; // printed by the program under test
}

/** Waits until something is so; fails after a time that a loaded machine can keep. */
export async function until<T>(what: () => MaybePromise<T | undefined | false>, ms = 30_000): Promise<T> {
  const late = Date.now() + ms;
  for (;;) {
    const found = await what();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > late) throw new Error(`it did not become so within ${ms} ms: ${what.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
