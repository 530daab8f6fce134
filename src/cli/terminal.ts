import pc from 'picocolors';
import type { Environment } from '../platform/bundle/environment.ts';

export type Colors = ReturnType<typeof pc.createColors>;

/** What is known of the two streams a command speaks on. */
export interface Terminal {
  readonly out: NodeJS.WriteStream;
  readonly err: NodeJS.WriteStream;
  readonly input: Input;
  /** Colours of stdout and of stderr: each may go somewhere else. */
  readonly colors: Colors;
  readonly errColors: Colors;
  /** A person sits at both ends, and the terminal can move its cursor. */
  readonly interactive: boolean;
  /** The same of stderr alone: progress may be shown. */
  readonly showsProgress: boolean;
  /** Characters of a line to write for; 80 where nobody knows, and never so many that the eye gets lost. */
  readonly columns: () => number;
}

const COLUMNS = 80;
const READABLE_COLUMNS = 100;
const FEWEST_COLUMNS = 20;

/** What is read from, and which file that is. */
export type Input = NodeJS.ReadStream & { readonly fd: number };

/** The streams of a process. */
export interface Streams {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly stdin: Input;
}

export function openTerminal(environment: Environment, { stdout: out, stderr: err, stdin: input }: Streams): Terminal {
  const movable = environment['TERM'] !== 'dumb';
  const colorful = (stream: NodeJS.WriteStream): boolean => {
    if (isSet(environment['NO_COLOR'])) return false;
    if (isSet(environment['FORCE_COLOR'])) return environment['FORCE_COLOR'] !== '0';
    // Of a pipe it is undefined, whatever its type says, and the library would then decide by itself.
    return isTerminal(stream) && movable;
  };
  return {
    out,
    err,
    input,
    colors: pc.createColors(colorful(out)),
    errColors: pc.createColors(colorful(err)),
    interactive: input.isTTY && out.isTTY && movable,
    showsProgress: err.isTTY && movable,
    columns: () => {
      const known = out.isTTY ? out.columns : err.isTTY ? err.columns : COLUMNS;
      return Math.max(FEWEST_COLUMNS, Math.min(known > 0 ? known : COLUMNS, READABLE_COLUMNS));
    },
  };
}

function isTerminal({ isTTY }: { readonly isTTY?: boolean }): boolean {
  return isTTY ?? false;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
