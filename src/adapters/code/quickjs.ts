import { Worker } from 'node:worker_threads';
import { PARKED, type CodeEnd, type CodeRunner } from '../../kernel/code.ts';
import type { CodeTask, FromCode, ToCode } from './words.ts';

/** Memory of the thread beside that of the code. */
const BESIDE_MB = 64;
/** Milliseconds for the thread to begin and to say that the code took too long, before it is ended from outside. */
const LEEWAY_MS = 5_000;

/**
 * JavaScript in QuickJS, which is WebAssembly, in a thread of its own: the code has nothing of this machine, and one that
 * never ends holds up nobody.
 */
export const runCode: CodeRunner = ({ code, tools, call, onIdle, log, now, memoryBytes, workMs, signal }) =>
  new Promise((resolve) => {
    const task: CodeTask = { code, tools, now, memoryBytes, workMs };
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const worker = new Worker(new URL(`./thread.${extension}`, import.meta.url), {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: BESIDE_MB, maxYoungGenerationSizeMb: 16 },
      env: {},
      stdout: true,
      stderr: true,
    });
    let isOver = false;
    const open = new Set<Promise<unknown>>();
    let answers = 0;
    let parked = 0;
    let isIdle = false;
    let timer: NodeJS.Timeout | undefined;
    const watch = (): void => {
      clearTimeout(timer);
      // While it waits for a tool it takes no time of its own.
      if (open.size === 0 && !isOver) timer = setTimeout(() => end(LATE), workMs + LEEWAY_MS);
    };
    const end = (how: CodeEnd): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      void worker.terminate();
      // What it has asked for is on record before it is itself.
      void Promise.allSettled(open).then(() => resolve(how));
    };
    const parkIfIdle = (): void => {
      if (isIdle && parked > 0 && open.size === 0) end({ ok: false, code: 'parked', message: 'The code waits.' });
    };
    const stop = (): void => end({ ok: false, code: 'stopped', message: 'The code was stopped.' });
    worker.on('message', (word: FromCode) => {
      if (isOver) return;
      switch (word.type) {
        case 'log':
          log(word.text);
          return;
        case 'end':
          end(word.end);
          return;
        case 'idle':
          if (word.answers !== answers) return; // it has been given more since
          isIdle = true;
          onIdle();
          parkIfIdle();
          return;
        case 'call': {
          const { id, name, args } = word;
          const answered = call(name, args).then(
            (value): ToCode | typeof PARKED => (value === PARKED ? value : { id, ok: true, value }),
            (error: unknown): ToCode => ({
              id,
              ok: false,
              message: error instanceof Error ? error.message : String(error),
            }),
          );
          const told = answered.then((answer) => {
            open.delete(told);
            if (answer === PARKED) {
              parked++;
              watch();
              parkIfIdle();
              return;
            }
            answers++;
            isIdle = false;
            if (!isOver) worker.postMessage(answer);
            watch();
          });
          open.add(told);
          watch();
        }
      }
    });
    worker.on('error', (error: Error) => end({ ok: false, code: 'memory', message: error.message }));
    worker.on('exit', () =>
      end({ ok: false, code: 'failed', message: 'The code ended without a result: it waits for what never comes.' }),
    );
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    watch();
  });

const LATE: CodeEnd = { ok: false, code: 'timeout', message: 'The code took more time than it has.' };
