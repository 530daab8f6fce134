/** A word of a command: its text, where that is certain before anything runs. */
export type ShellWord = string | undefined;

/** One program that a command would run, with the words it is given; undefined stands for what is known only when it runs. */
export interface ShellStep {
  readonly program: ShellWord;
  readonly args: readonly ShellWord[];
  /** Of a program that is written as a path: the name by which the shell would find the very same file. */
  readonly name?: string;
}

/** A command as a parser reads it, before anything of it runs. */
export interface ParsedCommand {
  /** Every program in it, wherever it stands: in lists, pipes, substitutions, and behind programs that run others. */
  readonly steps: readonly ShellStep[];
  /** Files that are written (`>`) or read (`<`) by redirection, as steps of these names. */
  readonly redirects: readonly ShellStep[];
  /** What cannot be known of it before it runs, each in a few words. Nothing of such a command is certain. */
  readonly unclear: readonly string[];
}

export type SandboxState = { readonly on: true } | { readonly on: false; readonly why: string };

export interface ShellRequest {
  readonly command: string;
  /** The folder that may be written: everything else is read only, or not there. */
  readonly root: string;
  /** Where it starts, in the root. */
  readonly folder: string;
  /** Paths in the root that are to be out of sight. */
  readonly isHidden: (path: string) => boolean;
  /** Paths elsewhere that may be read. */
  readonly readable: readonly string[];
  /** Besides PATH, which is that of the system and of the Node that runs this, unless it is named here. */
  readonly environment: Readonly<Record<string, string>>;
  readonly network: boolean;
  /** The root is read only, too. */
  readonly readOnly: boolean;
  /** Outside of the sandbox, because there is none or the operator wants none. */
  readonly bare: boolean;
  /** Bytes of what it says that are kept: its beginning and its end. */
  readonly mostBytes: number;
  readonly heard?: (text: string) => void;
}

export interface ShellEnd {
  /** Undefined where it was killed. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
}

/** A command at work. */
export interface RunningCommand {
  readonly ended: Promise<ShellEnd>;
  /** What it has said so far, on both of its outputs, in the order in which it was heard. */
  output(): { readonly text: string; readonly bytes: number };
  /** What it has said since the last time this was asked. */
  fresh(): string;
  /** Ends it and all that it started: asks first, and does not wait for long. */
  stop(): void;
}

/** The one way to a shell: whoever runs commands has them parsed and run here. */
export interface Shell {
  /**
   * `searchPath` is where programs are looked for when it runs, unless that is the usual. Rejects where the parser is not
   * installed.
   */
  parse(command: string, searchPath?: string): Promise<ParsedCommand>;
  sandbox(): Promise<SandboxState>;

  start(request: ShellRequest): Promise<RunningCommand>;
}
