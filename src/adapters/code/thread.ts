import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { JSException, QuickJS, type Deferred } from 'quickjs-wasi';
import { isObject, toJson, tryParseJson } from '../../base/json.ts';
import type { CodeEnd } from '../../kernel/code.ts';
import type { CodeTask, FromCode, ToCode } from './words.ts';

/** Bytes of the engine's own stack: a function that calls itself for ever is an error and not the end of the thread. */
const STACK_BYTES = 256 * 1024;

const port = parentPort;
if (port !== null) await run(workerData as CodeTask); // what our own side of the thread has sent

async function run({ code, tools, now, memoryBytes, workMs }: CodeTask): Promise<void> {
  const say = (word: FromCode): void => port?.postMessage(word);
  const waiting = new Map<number, Deferred>();
  let asked = 0;
  let answers = 0;
  let isFinished = false;
  let worked = 0;
  let since = 0;
  let isLate = false;
  const vm = await QuickJS.create({
    wasm: await readFile(fileURLToPath(import.meta.resolve('quickjs-wasi/quickjs.wasm'))),
    memoryLimit: memoryBytes,
    maxStackSize: STACK_BYTES,
    timezoneOffset: 0,
    interruptHandler: () => (isLate ||= worked + performance.now() - since > workMs),
    // One time and one series of chances: the same code does the same.
    wasi: (memory: { readonly buffer: ArrayBuffer }) => ({
      clock_time_get(_clock: number, _precision: bigint, at: number) {
        new DataView(memory.buffer).setBigUint64(at, BigInt(Math.floor(now)) * 1_000_000n, true);
        return 0;
      },
    }),
  });

  /** Counts the time that the code itself takes. */
  const work = <T>(act: () => T): T => {
    since = performance.now();
    try {
      return act();
    } finally {
      worked += performance.now() - since;
    }
  };

  const define = (name: string, act: Parameters<typeof vm.newFunction>[1]): void => {
    const made = vm.newFunction(name, act);
    vm.setProp(vm.global, name, made);
    made.dispose();
  };
  define('__log', (text) => {
    say({ type: 'log', text: text.toString() });
    return vm.undefined;
  });
  define('__call', (name, args) => {
    const parsed = tryParseJson(args.toString());
    const deferred = vm.newPromise();
    const id = ++asked;
    waiting.set(id, deferred);
    const given = parsed.ok && isObject(parsed.value) ? parsed.value : {};
    say({ type: 'call', id, name: name.toString(), args: given });
    return deferred.handle;
  });
  port?.on('message', (answer: ToCode) => {
    const deferred = waiting.get(answer.id);
    if (deferred === undefined) return;
    waiting.delete(answer.id);
    answers++;
    work(() => {
      if (answer.ok) deferred.resolve(vm.newString(JSON.stringify(answer.value)));
      else deferred.reject(vm.newError(answer.message));
      vm.executePendingJobs();
    });
    idle();
  });

  /** Told when whatever this has set off is done, and only where that was not the end. */
  const idle = (): void => {
    const given = answers;
    setImmediate(() => {
      if (!isFinished) say({ type: 'idle', answers: given });
    });
  };
  const finish = (end: CodeEnd): void => {
    isFinished = true;
    say({ type: 'end', end });
    port?.close();
  };
  try {
    work(() => vm.evalCode(prelude(tools), 'prelude.js').dispose());
    const promise = work(() => {
      const begun = vm.evalCode(`(async () => {\n${code}\n})().then((value) => __wrap(value))`, 'code.js');
      vm.executePendingJobs();
      return begun;
    });
    idle();
    const settled = await vm.resolvePromise(promise);
    if ('value' in settled) {
      const parsed = tryParseJson(settled.value.toString());
      finish({ ok: true, value: parsed.ok ? parsed.value : null });
    } else finish(failure(vm.dump(settled.error), isLate));
  } catch (error) {
    finish(failure(error, isLate));
  }
}

/** What code is given besides the language: a console, and its tools. */
function prelude(tools: readonly string[]): string {
  return `'use strict';
const { __log, __call } = globalThis;
delete globalThis.__log; delete globalThis.__call;
const shown = (one) => typeof one === 'string' ? one : one instanceof Error ? String(one) : (JSON.stringify(one) ?? String(one));
const say = (...all) => { __log(all.map(shown).join(' ')); };
globalThis.console = Object.freeze({ log: say, info: say, warn: say, error: say, debug: say });
globalThis.tools = Object.freeze(Object.fromEntries(${JSON.stringify(tools)}.map((name) => [
  name, async (args = {}) => JSON.parse(await __call(name, JSON.stringify(args))),
])));
globalThis.__wrap = (value) => JSON.stringify(value === undefined ? null : value) ?? 'null';
`;
}

function failure(error: unknown, isLate: boolean): CodeEnd {
  if (isLate) return { ok: false, code: 'timeout', message: 'The code took more time than it has.' };
  const { name, message } = told(error);
  if (error instanceof JSException) error.dispose();
  if (/out of memory/.test(message))
    return { ok: false, code: 'memory', message: 'The code took more memory than it has.' };
  return { ok: false, code: name === 'SyntaxError' ? 'syntax' : 'failed', message: `${name}: ${message}` };
}

function told(error: unknown): { readonly name: string; readonly message: string } {
  if (error instanceof Error) return { name: error.name, message: error.message };
  if (isObject(error) && typeof error['message'] === 'string') {
    return { name: typeof error['name'] === 'string' ? error['name'] : 'Error', message: error['message'] };
  }
  return { name: 'thrown', message: JSON.stringify(toJson(error)) };
}
