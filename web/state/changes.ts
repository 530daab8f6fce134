import type { Json } from '../api/types.ts';

/** Something that an action would write, as people compare it. */
export type Change =
  | { readonly kind: 'texts'; readonly file: string | undefined; readonly before: string; readonly after: string }
  | { readonly kind: 'patch'; readonly file: string | undefined; readonly patch: string }
  /** What stands there now is not known here. */
  | { readonly kind: 'whole'; readonly file: string; readonly text: string };

export interface Changes {
  readonly changes: readonly Change[];
  /** What else the arguments say. */
  readonly rest: Readonly<Record<string, Json>>;
}

/** Names under which tools are told an old text and a new one. */
const PAIRS = [
  ['old_string', 'new_string'],
  ['old_text', 'new_text'],
  ['oldString', 'newString'],
  ['oldText', 'newText'],
  ['before', 'after'],
  ['old', 'new'],
  ['search', 'replace'],
] as const;
const FILES = ['path', 'file_path', 'filePath', 'file', 'filename'] as const;
const PATCHES = ['patch', 'diff'] as const;
const WHOLES = ['content', 'contents', 'text'] as const;

/** Whether a text is a unified diff. */
export function isPatch(text: string): boolean {
  return /^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/m.test(text);
}

/** The edits in a tool's arguments, by the names that tools give them. Nothing where they are something else. */
export function changesIn(given: Json): Changes {
  if (!isRecord(given)) return { changes: [], rest: {} };
  const fileName = FILES.find((name) => typeof given[name] === 'string');
  const file = fileName === undefined ? undefined : String(given[fileName]);
  const pair = pairIn(given);
  if (pair !== undefined)
    return { changes: [{ kind: 'texts', file, ...pair.texts }], rest: without(given, [...pair.names, fileName]) };
  const { edits } = given;
  const pairs = Array.isArray(edits) ? edits.map((one: Json) => (isRecord(one) ? pairIn(one) : undefined)) : [];
  if (pairs.length > 0 && pairs.every((one) => one !== undefined))
    return {
      changes: pairs.map(({ texts }) => ({ kind: 'texts', file, ...texts })),
      rest: without(given, ['edits', fileName]),
    };
  const patchName = PATCHES.find((name) => isText(given[name]) && isPatch(given[name]));
  if (patchName !== undefined)
    return {
      changes: [{ kind: 'patch', file, patch: String(given[patchName]) }],
      rest: without(given, [patchName, fileName]),
    };
  const wholeName = WHOLES.find((name) => isText(given[name]));
  if (file !== undefined && wholeName !== undefined)
    return {
      changes: [{ kind: 'whole', file, text: String(given[wholeName]) }],
      rest: without(given, [wholeName, fileName]),
    };
  return { changes: [], rest: given };
}

function pairIn(given: Readonly<Record<string, Json>>) {
  const names = PAIRS.find(([before, after]) => isText(given[before]) && isText(given[after]));
  if (names === undefined) return undefined;
  return { names, texts: { before: String(given[names[0]]), after: String(given[names[1]]) } };
}

function without(given: Readonly<Record<string, Json>>, names: readonly (string | undefined)[]) {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name)));
}

function isText(value: Json): value is string {
  return typeof value === 'string';
}

function isRecord(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
