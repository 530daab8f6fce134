import { calculate } from '../../adapters/math/calculate.ts';
import type { PageReader } from '../../adapters/web/read-page.ts';
import type { WebSearch } from '../../adapters/web/search.ts';
import type { CodeRunner } from '../../kernel/code.ts';
import type { FileSearch } from '../../kernel/file-search.ts';
import type { Shell } from '../../kernel/shell.ts';
import type { AnnounceBlock } from '../../kernel/plugin.ts';
import type { BuiltinGroup } from '../../kernel/tool.ts';
import { askUserGroup } from '../../plugins/tools/ask-user.ts';
import { codeGroup } from '../../plugins/tools/code/group.ts';
import { contextGroup } from '../../plugins/tools/context.ts';
import { documentsGroup, type ReadDocument } from '../../plugins/tools/documents.ts';
import { filesGroup } from '../../plugins/tools/files/group.ts';
import type { Diff } from '../../plugins/tools/files/write.ts';
import { ioGroup } from '../../plugins/tools/io.ts';
import { mathGroup } from '../../plugins/tools/math.ts';
import { notesGroup } from '../../plugins/tools/notes.ts';
import { shellGroup } from '../../plugins/tools/shell/group.ts';
import { timeGroup } from '../../plugins/tools/time.ts';
import { todoGroup } from '../../plugins/tools/todo.ts';
import { webGroup } from '../../plugins/tools/web.ts';

let reading: Promise<PageReader> | undefined;

/** Loaded with the first page. */
async function pageReader(): Promise<PageReader> {
  const { createDocumentReader } = await import('../../adapters/documents/reader.ts');
  const { createPageReader } = await import('../../adapters/web/read-page.ts');
  return createPageReader({ readDocument: createDocumentReader(), userAgent: 'treadle' });
}

/** Loaded with the first document. */
async function textReader(): Promise<ReadDocument> {
  const { createDocumentReader } = await import('../../adapters/documents/reader.ts');
  const { createTextReader } = await import('../../adapters/documents/read-text.ts');
  return createTextReader(createDocumentReader());
}

let readingText: Promise<ReadDocument> | undefined;
const documents = documentsGroup(async (file, signal) => (await (readingText ??= textReader()))(file, signal));

const web = webGroup({
  readPage: async (url, whole, context) => (await (reading ??= pageReader()))(url, whole, context),
  searchWith(provider) {
    let searching: Promise<WebSearch> | undefined;
    const open = async (): Promise<WebSearch> =>
      (await import('../../adapters/web/search.ts')).createWebSearch(provider);
    return async (query, context) => (await (searching ??= open())).search(query, context);
  },
});

/** Loaded with the first look: most programs never look through files. */
const search: FileSearch = {
  find: async (...query) => (await import('../../adapters/files/search.ts')).fileSearch.find(...query),
  grep: async (...query) => (await import('../../adapters/files/search.ts')).fileSearch.grep(...query),
};
const diff: Diff = async (...texts) => (await import('../../adapters/files/unified-diff.ts')).unifiedDiff(...texts);

const shell: Shell = {
  parse: async (command, searchPath) =>
    (await import('../../adapters/shell/shell.ts')).systemShell.parse(command, searchPath),
  sandbox: async () => (await import('../../adapters/shell/shell.ts')).systemShell.sandbox(),
  start: async (request) => (await import('../../adapters/shell/shell.ts')).systemShell.start(request),
};

const runCode: CodeRunner = async (request) => (await import('../../adapters/code/quickjs.ts')).runCode(request);

const groups: readonly BuiltinGroup[] = [
  ioGroup,
  contextGroup,
  mathGroup(calculate),
  timeGroup,
  askUserGroup,
  todoGroup,
  notesGroup,
  web,
  documents,
  filesGroup(search, diff),
  shellGroup(shell),
  codeGroup(runCode),
];

/** Tool groups that come with Treadle, by the name after `builtin/`. */
export const builtinGroups: ReadonlyMap<string, BuiltinGroup> = new Map(groups.map((group) => [group.name, group]));

/** What groups add to announce: each is silent for an agent that has none of its tools. */
export function groupBlocks(): readonly (readonly [title: string, block: AnnounceBlock])[] {
  return groups.flatMap(({ announces }) => (announces === undefined ? [] : [announces]));
}
