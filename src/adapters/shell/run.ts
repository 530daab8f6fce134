import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import type { RunningCommand, ShellEnd, ShellRequest } from '../../kernel/shell.ts';
import { KeptOutput } from './kept-output.ts';
import { sandboxed } from './sandbox.ts';

/** Milliseconds that a group of processes has to end by itself once it was asked to. */
const GRACE_MS = 1_000;
/** Milliseconds for the last words of a shell that has ended while what it started holds its outputs. */
const DRAIN_MS = 250;

/** Without anybody's own settings; what follows `-c` is the whole of what it reads. */
const BASH = ['bash', '--noprofile', '--norc', '-c'];

/** Errors come where they came up in the rest: two pipes would be heard in any order. */
const TOGETHER = 'exec 2>&1\n';

const groups = new Set<number>();
process.once('exit', () => {
  for (const group of groups) end(group, 'SIGKILL');
});

/** Starts a command in a group of its own, so that all that it starts can be ended with it. */
export function runCommand(request: ShellRequest): RunningCommand {
  const { command, root, folder, environment, bare, mostBytes, heard } = request;
  const own = [...BASH, `${TOGETHER}${command}`];
  const [program = '', ...args] = bare ? own : ['bwrap', ...sandboxed(request, own)];
  const child = spawn(program, args, {
    cwd: bare ? path.join(root, folder) : '/',
    env: bare ? { ...environment } : { PATH: environment['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const kept = new KeptOutput(mostBytes);
  const take = (bytes: Buffer): void => {
    const text = kept.take(bytes);
    if (text !== '') heard?.(text);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const group = child.pid;
  if (group !== undefined) groups.add(group);
  const ended = ending(child).finally(() => {
    kept.take(undefined);
    if (group === undefined) return;
    end(group, 'SIGKILL'); // whatever it left behind
    groups.delete(group);
  });
  ended.catch(() => undefined); // told to whoever waits for it
  let isStopping = false;
  return {
    ended,
    output: () => ({ text: kept.text, bytes: kept.bytes }),
    fresh: () => kept.fresh(),
    stop() {
      if (isStopping || group === undefined) return;
      isStopping = true;
      // A sandbox passes no signal on: it ends, and all that is in it with it.
      end(group, bare ? 'SIGTERM' : 'SIGKILL');
      const timer = setTimeout(() => end(group, 'SIGKILL'), GRACE_MS);
      const clear = (): void => clearTimeout(timer);
      ended.then(clear, clear);
    },
  };
}

/** When the shell has ended and said all, or has ended and something that it started still holds its outputs. */
function ending(child: ChildProcess): Promise<ShellEnd> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const done = (code: number | null, signal: NodeJS.Signals | null): void => {
      clearTimeout(timer);
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ exitCode: code ?? undefined, signal: signal ?? undefined });
    };
    child.on('error', reject);
    child.on('close', done);
    child.on('exit', (code, signal) => {
      timer = setTimeout(() => done(code, signal), DRAIN_MS);
    });
  });
}

function end(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // It has ended already.
  }
}
