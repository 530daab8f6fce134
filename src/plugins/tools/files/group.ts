import type { FileSearch } from '../../../kernel/file-search.ts';
import type { BuiltinGroup } from '../../../kernel/tool.ts';
import { lookingTools } from './look.ts';
import { readTool } from './read.ts';
import { writingTools, type Diff } from './write.ts';

/** The files of one folder: the `files` of the entry that grants the group. */
export function filesGroup(search: FileSearch, diff: Diff): BuiltinGroup {
  const tools = [readTool, ...lookingTools(search), ...writingTools(diff)];
  return { name: 'files', locked: false, needsFiles: true, tools };
}
