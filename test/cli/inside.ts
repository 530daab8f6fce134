import { AsyncLocalStorage } from 'node:async_hooks';
import { openSync } from 'node:fs';
import { devNull } from 'node:os';
import { Readable, Writable } from 'node:stream';
import { EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { runProgram } from '../../src/cli/run-program.ts';
import { openTerminal, type Streams } from '../../src/cli/terminal.ts';
import { environment, type Ran, type RunOptions } from './treadle.ts';

/** The working directory of each command line, for several of them run here at a time. */
const directory = new AsyncLocalStorage<string>();
const ownDirectory = process.cwd();
process.cwd = () => directory.getStore() ?? ownDirectory;

const nothing = openSync(devNull, 'r');

/**
 * The command line without a process of its own, which takes ten times as long to start as most commands to run.
 *
 * Everything from its arguments to its exit code is the real thing. For tests that are not about the process: what it
 * reads from stdin, signals, and what is left when it is killed are tried with `treadle`.
 */
export async function inside(
  args: readonly string[],
  { cwd, env, heard }: Omit<RunOptions, 'input' | 'stdin'> & { readonly heard?: (text: string) => void },
): Promise<Ran> {
  const out: string[] = [];
  const err: string[] = [];
  const streams = { stdout: collecting(out), stderr: collecting(err, heard), stdin: empty() };
  const all = environment(env);
  const context = { environment: all, terminal: openTerminal(all, streams) };
  const outcome = await directory.run(cwd, () => runProgram(args, '0.0.0', context));
  return { code: EXIT_CODES[outcome].code, out: out.join(''), err: err.join('') };
}

/** A pipe to somebody who reads everything. */
function collecting(into: string[], heard?: (text: string) => void): Streams['stdout'] {
  const stream = new Writable({
    decodeStrings: false,
    write(text: string | Buffer, _encoding, done) {
      into.push(text.toString());
      heard?.(text.toString());
      done();
    },
  });
  return stream as unknown as Streams['stdout']; // a pipe has nothing of a terminal either, whatever the type says
}

/** As from /dev/null. */
function empty(): Streams['stdin'] {
  return Object.assign(Readable.from([]), { fd: nothing }) as unknown as Streams['stdin']; // as above
}
