/** What is known of a file without reading it. */
export interface FileStat {
  /** From the root, with `/` between the names, and no symbolic link in it. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'other';
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** Told while bytes go by, after every chunk. */
export type FileProgress = (done: number, total: number) => void;

export interface ReadFileOptions {
  /** Bytes; a longer file is refused. The bundle's limit when absent. */
  readonly most?: number;
  readonly progress?: FileProgress;
}

export interface WriteFileOptions {
  readonly progress?: FileProgress;
  /** Looked at right before the new content takes the place of the old: throwing leaves the old. */
  readonly unless?: (now: Uint8Array | undefined) => void;
}

/**
 * The files of one folder, and nothing outside of it: `..`, absolute paths, symbolic links, devices and what changes
 * between a look and a use lead nowhere else.
 *
 * Paths are relative to the root, or absolute and in it, as a shell prints them. The empty path and `.` are the root. What
 * is not allowed or not there rejects with a `FileRefusal`, whose message a model may read.
 */
export interface RootedFiles {
  /** The folder itself, absolute, with its symbolic links resolved. */
  readonly root: string;
  readonly isReadOnly: boolean;
  /** Bytes of a file that is read or written, at most. */
  readonly mostBytes: number;
  /** Whether the bundle keeps this path, relative to the root, away from tools. */
  isHidden(path: string): boolean;
  /** What is there, after symbolic links; undefined where nothing is. */
  stat(path: string): Promise<FileStat | undefined>;
  read(path: string, options?: ReadFileOptions): Promise<Uint8Array>;
  /** The same as text, which has to be UTF-8. A byte order mark is left out. */
  readText(path: string, options?: ReadFileOptions): Promise<string>;
  /**
   * Puts the whole content there or nothing: a crash leaves the old file. Missing folders are made. Resolves with the path
   * that was written, from the root.
   */
  write(path: string, content: string | Uint8Array, options?: WriteFileOptions): Promise<FileStat>;
  /** Takes a file away. */
  remove(path: string): Promise<void>;
  /** What is in a folder, by name. Symbolic links that lead out, or nowhere, are left out. */
  list(folder: string): Promise<readonly FileStat[]>;
}

export const FILE_REFUSALS = [
  'outside',
  'hidden',
  'read_only',
  'not_found',
  'not_a_file',
  'not_a_folder',
  'too_large',
  'not_text',
  'bad_path',
  'not_allowed',
] as const;
export type FileRefusalCode = (typeof FILE_REFUSALS)[number];

/** The rooted files said no, or have no such thing. */
export class FileRefusal extends Error {
  override readonly name = 'FileRefusal';
  readonly code: FileRefusalCode;

  constructor(code: FileRefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}
