import { fstatSync } from 'node:fs';
import { systemClock } from '../base/clock.ts';
import { TreadleError } from '../base/errors.ts';
import type { Input } from './terminal.ts';
import { duration } from './text.ts';

export interface InputText {
  readonly text: string;
  /** Something the caller may not expect. */
  readonly notice?: string;
}

/** Bytes of stdin that are read: what a message may have at most. */
const BYTES_MAX = 1_000_000;

/** Terminals, pipes and sockets keep a process alive and can be told not to; the stream of a file cannot. */
type MaybeHeld = { readonly unref?: () => void };

/** Milliseconds that a pipe gets for its first byte where the message is complete without it. */
const FIRST_BYTE_MS = 2_000;

/**
 * The message of a one-shot run: the words of the command line, then stdin.
 *
 * stdin is the message where there are no words, and where `-` stands among them it is waited for without a bound. Words
 * with a pipe or a file are one message with it; a pipe on which nothing comes for two seconds is left alone, because
 * programs often start others with a pipe that they never write to and never close.
 */
export async function inputText(
  words: readonly string[],
  stdin: Input,
  timeoutMs: number | undefined,
): Promise<InputText> {
  const named = words.includes('-');
  const text = words.filter((word) => word !== '-').join(' ');
  if (text !== '' && !named && !mayHoldText(stdin)) return { text };
  if (text === '' && stdin.isTTY) throw noMessage();
  const patienceMs = text !== '' && !named ? FIRST_BYTE_MS : undefined;
  const piped = await readAll(stdin, patienceMs, timeoutMs);
  if (piped === undefined) {
    return {
      text,
      notice: `nothing came on stdin within ${duration(FIRST_BYTE_MS)}, so it was left out; add - to wait for it, or </dev/null`,
    };
  }
  const whole = [text, piped.replace(/\r?\n$/, '')].filter((one) => one !== '').join('\n\n');
  if (whole === '') throw noMessage();
  return { text: whole };
}

function noMessage(): TreadleError {
  return new TreadleError('usage', {
    place: 'TEXT',
    found: 'no message',
    wanted: 'words, or text on stdin',
    hint: 'treadle run BUNDLE "What is my exposure?"',
  });
}

/** A pipe, a socket or a file; not a terminal and not /dev/null. */
function mayHoldText(stdin: Input): boolean {
  if (stdin.isTTY) return false;
  try {
    const status = fstatSync(stdin.fd);
    return status.isFIFO() || status.isFile() || status.isSocket();
  } catch {
    return false; // stdin is closed
  }
}

/** Everything until the end; undefined when not even a beginning came in time. Throws `timeout` and `input_invalid`. */
function readAll(
  stdin: Input,
  patienceMs: number | undefined,
  timeoutMs: number | undefined,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timers: (() => void)[] = [];
    const finish = (settle: () => void): void => {
      for (const release of timers.splice(0)) release();
      stdin.off('data', take);
      stdin.off('end', end);
      stdin.off('error', fail);
      stdin.pause();
      (stdin as MaybeHeld).unref?.();
      settle();
    };
    const end = (): void => finish(() => decode(Buffer.concat(chunks), resolve, reject));
    const fail = (cause: Error): void =>
      finish(() =>
        reject(new TreadleError('input_invalid', { place: 'stdin', found: cause.message, wanted: 'text', cause })),
      );
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > BYTES_MAX) finish(() => reject(tooMuch()));
    };
    if (patienceMs !== undefined)
      timers.push(systemClock.after(patienceMs, () => chunks.length === 0 && finish(() => resolve(undefined))));
    if (timeoutMs !== undefined) {
      const late = new TreadleError('timeout', {
        place: 'stdin',
        found: `no end within ${duration(timeoutMs)}`,
        hint: 'close it, or give --timeout more',
      });
      timers.push(systemClock.after(timeoutMs, () => finish(() => reject(late))));
    }
    stdin.on('data', take);
    stdin.on('end', end);
    stdin.on('error', fail);
  });
}

function tooMuch(): TreadleError {
  return new TreadleError('input_invalid', {
    place: 'stdin',
    found: `more than ${BYTES_MAX} bytes`,
    wanted: `at most ${BYTES_MAX}`,
    hint: 'put it into a file that a tool of the agent can read, and say which',
  });
}

function decode(bytes: Buffer, resolve: (text: string) => void, reject: (error: TreadleError) => void): void {
  try {
    resolve(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    reject(
      new TreadleError('input_invalid', { place: 'stdin', found: 'bytes that are not UTF-8', wanted: 'text', cause }),
    );
  }
}
