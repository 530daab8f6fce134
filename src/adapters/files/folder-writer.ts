import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from './whole-file.ts';

export interface FolderWriter {
  write(name: string, text: string): Promise<void>;
}

/** Whole files in one folder, which is made when the first is written. */
export function createFolderWriter(folder: string): FolderWriter {
  const root = path.resolve(folder);
  return {
    async write(name, text) {
      await mkdir(root, { recursive: true });
      await replaceFile((file) => path.join(root, file), name, Buffer.from(text), {});
    },
  };
}
