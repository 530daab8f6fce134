import { FileRefusal, type RootedFiles } from '../../../kernel/files.ts';
import type { ToolContext, ToolReturn } from '../../../kernel/running-tool.ts';
import { toolFailure } from '../../../kernel/tool.ts';

/** The files that a tool was handed. What they refuse is told to the model; what it is told, it may mend. */
export async function withFiles(
  { files }: ToolContext,
  act: (files: RootedFiles) => Promise<ToolReturn>,
): Promise<ToolReturn> {
  if (files === undefined) return toolFailure('no_files', 'This tool was given no folder to work in.');
  try {
    return await act(files);
  } catch (error) {
    if (error instanceof FileRefusal) return toolFailure(error.code, error.message);
    throw error;
  }
}
