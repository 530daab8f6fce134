import type { Attachment } from '../api/calls.ts';

/** Bytes of one file. What is larger does not go into a message. */
const LARGEST = 5 * 1024 * 1024;

/** Files as they go into a message. Throws what the person can put right. */
export function readAttachments(files: readonly File[]): Promise<readonly Attachment[]> {
  return Promise.all(
    files.map(async (file) => {
      if (file.size > LARGEST) throw new Error(`${file.name} is larger than 5 MB.`);
      return {
        type: 'file' as const,
        mediaType: file.type === '' ? 'application/octet-stream' : file.type,
        data: await base64(file),
        name: file.name,
      };
    }),
  );
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      resolve(typeof reader.result === 'string' ? reader.result.replace(/^[^,]*,/, '') : '');
    };
    reader.onerror = () => {
      reject(new Error(`${file.name} cannot be read.`));
    };
    reader.readAsDataURL(file);
  });
}
