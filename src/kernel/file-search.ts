import type { RootedFiles } from './files.ts';

export interface FindQuery {
  /** A folder, from the root. */
  readonly under: string;
  /** `*`, `**`, `?`, `[…]` and `{a,b}`. Without a slash it is the name in any folder. */
  readonly glob: string;
  readonly limit: number;
}

export interface GrepQuery {
  /** A file or a folder, from the root. */
  readonly under: string;
  /** RE2 syntax, which takes time in proportion to the text; or the text itself. */
  readonly pattern: string;
  readonly isLiteral: boolean;
  readonly ignoreCase: boolean;
  /** Only files that this matches. */
  readonly glob?: string | undefined;
  /** Lines around each match. */
  readonly context: number;
  readonly limit: number;
}

export interface FoundLine {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
  /** False for a line around a match. */
  readonly isMatch: boolean;
}

export type Grepped =
  /** In the order of paths and lines. `isCut`: there are more matches than the limit. */
  | { readonly ok: true; readonly lines: readonly FoundLine[]; readonly isCut: boolean }
  | { readonly ok: false; readonly problem: string };

/** Looks through rooted files. What a `.gitignore` in the root leaves out, what git keeps for itself and links are passed over. */
export interface FileSearch {
  find(
    files: RootedFiles,
    query: FindQuery,
    signal: AbortSignal,
  ): Promise<{ readonly paths: readonly string[]; readonly isCut: boolean }>;
  grep(files: RootedFiles, query: GrepQuery, signal: AbortSignal): Promise<Grepped>;
}
