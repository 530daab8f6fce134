import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { isObject, tryParseJson } from '../../base/json.ts';
import type { FoundLine, GrepQuery } from '../../kernel/file-search.ts';
import type { RootedFiles } from '../../kernel/files.ts';
import { fromFolder, withoutTail } from './plain-grep.ts';
import { asRust } from './rust-pattern.ts';
import { globMatcher, rulesAbove } from './walk.ts';

/** The rules that `walk` follows, and nothing of what whoever runs this has set up for themselves. */
const RULES = [
  '--json',
  '--no-config',
  '--no-messages',
  '--hidden',
  '--no-require-git',
  '--no-ignore-global',
  '--no-ignore-exclude',
  '--no-ignore-parent',
  '--no-ignore-dot',
  '--no-follow',
  '--sort=path',
  '--glob=!.git/',
];

/**
 * The same by ripgrep. Undefined where it is not there, does not take the pattern, or would read it as something else:
 * whoever asks looks by themselves then.
 */
export async function ripgrep(
  files: RootedFiles,
  query: GrepQuery,
  signal: AbortSignal,
): Promise<{ readonly lines: readonly FoundLine[]; readonly isCut: boolean } | undefined> {
  const pattern = query.isLiteral ? query.pattern : asRust(query.pattern);
  if (pattern === undefined) return undefined;
  // It hears of the rules above a folder only where they are named, and names are taken from the root.
  const above = await rulesAbove(files, query.under);
  if (above === 'ignored' || above.some(({ base }) => base !== '')) return undefined;
  const rules = above.length === 0 ? [] : ['--ignore-file=.gitignore'];
  const target = query.under === '' ? [] : ['--', query.under];
  const given = [
    ...RULES,
    ...rules,
    `--max-filesize=${files.mostBytes}`,
    `--context=${query.context}`,
    ...(query.isLiteral ? ['--fixed-strings'] : []),
    ...(query.ignoreCase ? ['--ignore-case'] : ['--case-sensitive']),
    `--regexp=${pattern}`,
    ...target,
  ];
  const child = spawn('rg', given, { cwd: files.root, stdio: ['ignore', 'pipe', 'ignore'], env: {}, signal });
  const ended = new Promise<number | undefined>((resolve) => {
    child.on('error', () => resolve(undefined));
    child.on('close', (code) => resolve(code ?? undefined));
  });
  const found: FoundLine[] = [];
  const reading = new Reading(files, query);
  let isCut = false;
  for await (const line of createInterface({ input: child.stdout })) {
    const taken = reading.take(line);
    if (taken === undefined) continue;
    found.push(...taken);
    if (reading.matches > query.limit) {
      isCut = true;
      child.kill();
      break;
    }
  }
  const code = await ended;
  signal.throwIfAborted();
  if (!isCut && code !== 0 && code !== 1) return undefined;
  return isCut ? { lines: upTo(found, query.limit), isCut } : { lines: found, isCut };
}

function upTo(found: readonly FoundLine[], limit: number): readonly FoundLine[] {
  let matches = 0;
  const over = found.findIndex((one) => one.isMatch && ++matches > limit);
  return withoutTail(found.slice(0, over));
}

/** Reads the lines of ripgrep's JSON, a file at a time: one that turns out not to be text has not matched. */
class Reading {
  matches = 0;
  readonly #files: RootedFiles;
  readonly #query: GrepQuery;
  readonly #wanted: ((path: string) => boolean) | undefined;
  #file: FoundLine[] = [];

  constructor(files: RootedFiles, query: GrepQuery) {
    this.#files = files;
    this.#query = query;
    this.#wanted = query.glob === undefined ? undefined : globMatcher(query.glob);
  }

  /** The lines of a file, with its last line. */
  take(line: string): readonly FoundLine[] | undefined {
    const parsed = tryParseJson(line);
    const message: unknown = parsed.ok ? parsed.value : undefined;
    if (!isObject(message) || !isObject(message['data'])) return undefined;
    const { type, data } = message;
    if (type === 'match' || type === 'context') {
      const own = textOf(data['path']).split(path.sep).join('/').replace(/^\.\//, '');
      const text = textOf(data['lines']).replace(/\r?\n$/, '');
      this.#file.push({ path: own, line: Number(data['line_number']), text, isMatch: type === 'match' });
      return undefined;
    }
    if (type !== 'end') return undefined;
    const lines = this.#file;
    this.#file = [];
    if (data['binary_offset'] !== null || !this.#counts(lines[0]?.path)) return undefined;
    this.matches += lines.filter((one) => one.isMatch).length;
    return lines;
  }

  #counts(own: string | undefined): boolean {
    if (own === undefined || this.#files.isHidden(own)) return false;
    return own === this.#query.under || this.#wanted?.(fromFolder(own, this.#query.under)) !== false;
  }
}

/** Text that is UTF-8, or the bytes of what is not. */
function textOf(value: unknown): string {
  if (!isObject(value)) return '';
  const { text, bytes } = value;
  if (typeof text === 'string') return text;
  return typeof bytes === 'string' ? Buffer.from(bytes, 'base64').toString('utf8') : '';
}
