import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import process from 'node:process';
import {
  deserializeMessage,
  serializeMessage,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { LineSplitter } from './line-splitter.ts';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** All of it: nothing of this process's own is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Bytes of one message. A longer one ends the connection: what follows it could not be told apart. */
  readonly maxMessageBytes: number;
}

export interface ChildTransport extends Transport {
  /** What the child wrote last on its error stream. */
  readonly lastWords: () => string;
}

/** Milliseconds that a child has to end by itself after its input was closed, and again after it was asked to. */
const GRACE_MS = 1_000;
/** Milliseconds in which what a child wrote before it ended is still read. */
const LAST_BREATH_MS = 200;
const LAST_WORDS = 2_000;

/** Children that are alive: a process that exits takes them with it. */
const alive = new Set<ChildProcessWithoutNullStreams>();
let watchesExit = false;

/**
 * A child process as an MCP transport.
 *
 * It leads its own process group, so that a terminal's Ctrl-C is not meant for it and that closing ends all that it
 * started: its input is closed, then the group is asked to end, then killed.
 */
export function childTransport(options: ChildOptions): ChildTransport {
  let child: ChildProcessWithoutNullStreams | undefined;
  let words = '';
  let over = false;

  let delivered = Promise.resolve();

  const ended = (): void => {
    void delivered.then(() => {
      if (over) return;
      over = true;
      transport.onclose?.();
    });
  };
  const failed = (error: unknown): void =>
    transport.onerror?.(error instanceof Error ? error : new Error(String(error)));

  const deliver = (line: string): void | Promise<void> => {
    if (over) return;
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch (error) {
      failed(error);
      return; // servers print to their standard output by mistake: a line that is no message is not one
    }
    transport.onmessage?.(message);
    // The client hears of a notification a moment later: an answer that came in the same breath must not overtake it.
    if (!('id' in message)) return new Promise((resolve) => void setImmediate(resolve));
  };
  const lines = new LineSplitter(options.maxMessageBytes, (line) => {
    delivered = delivered.then(() => deliver(line));
  });

  const transport: ChildTransport = {
    start() {
      return new Promise((resolve, reject) => {
        const started = spawn(options.command, [...options.args], {
          env: options.env,
          cwd: options.cwd,
          detached: hasGroups,
          windowsHide: true,
          stdio: 'pipe',
        });
        child = started;
        started.once('spawn', () => {
          remember(started);
          resolve();
        });
        started.once('error', (error) => {
          reject(error);
          failed(error);
          ended();
        });
        // Not `close` alone: a helper that holds the streams must not make a dead server look alive.
        started.once('exit', () => {
          alive.delete(started);
          signal(started, 'SIGKILL');
          setTimeout(ended, LAST_BREATH_MS).unref();
        });
        started.once('close', ended);
        started.stdin.on('error', failed);
        started.stdout.on('error', failed);
        started.stderr.on('data', (chunk: Buffer) => (words = (words + chunk.toString('utf8')).slice(-LAST_WORDS)));
        started.stdout.on('data', (chunk: Buffer) => {
          try {
            lines.add(chunk);
          } catch (error) {
            failed(error);
            void transport.close();
          }
        });
      });
    },
    send(message) {
      return new Promise((resolve, reject) => {
        if (child === undefined || over) {
          reject(new Error('the server has ended'));
          return;
        }
        child.stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
      });
    },
    async close() {
      const closing = child;
      if (
        closing !== undefined &&
        closing.exitCode === null &&
        closing.signalCode === null &&
        closing.pid !== undefined
      ) {
        const exited = new Promise<void>((resolve) => void closing.once('exit', () => resolve()));
        closing.stdin.end();
        if (!(await within(exited, GRACE_MS))) {
          signal(closing, 'SIGTERM');
          if (!(await within(exited, GRACE_MS))) {
            signal(closing, 'SIGKILL');
            await exited;
          }
        }
      }
      closing?.stdout.destroy();
      closing?.stderr.destroy();
      ended();
    },
    lastWords: () => words.trim(),
  };
  return transport;
}

/** Windows has no process groups: there only the child itself is ended. */
const hasGroups = process.platform !== 'win32';

function signal(child: ChildProcessWithoutNullStreams, name: 'SIGTERM' | 'SIGKILL'): void {
  const { pid } = child;
  if (pid === undefined) return;
  try {
    if (hasGroups) process.kill(-pid, name);
    else child.kill(name);
  } catch {
    // Nobody of the group is left.
  }
}

function remember(child: ChildProcessWithoutNullStreams): void {
  alive.add(child);
  if (watchesExit) return;
  watchesExit = true;
  process.on('exit', () => {
    for (const one of alive) signal(one, 'SIGKILL');
  });
}

function within(done: Promise<void>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    void done.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
