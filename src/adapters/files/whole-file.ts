import { constants, open, readFile, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import process from 'node:process';
import { FileRefusal, type FileProgress } from '../../kernel/files.ts';
import { shown } from './path-in-root.ts';
import { codeOf } from './opened.ts';

/** Bytes that go by between two words of progress. */
export const CHUNK_BYTES = 16 * 1024;

interface Reading {
  readonly size: number;
  readonly most: number;
  readonly progress: FileProgress | undefined;
  readonly named: string;
}

/** All of an open file, also where it grows meanwhile, up to `most` bytes. */
export async function readChunks(handle: FileHandle, { size, most, progress, named }: Reading): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let done = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, done);
    if (bytesRead === 0) return Buffer.concat(chunks);
    done += bytesRead;
    if (done > most) {
      throw new FileRefusal('too_large', `${shown(named)} grows while it is read; at most ${most} bytes are taken.`);
    }
    chunks.push(buffer.subarray(0, bytesRead));
    progress?.(done, Math.max(size, done));
  }
}

/** What is written before it takes the place of a file. A process that was killed leaves one behind. */
export const TEMPORARY = /^\.treadle-[0-9]+-[0-9]+\.tmp$/;

let count = 0;

/** Writes beside the file and then takes its place: whoever looks sees the old content or the new, and never a part. */
export async function replaceFile(
  at: (name: string) => string,
  name: string,
  bytes: Uint8Array,
  {
    progress,
    unless,
  }: {
    readonly progress?: FileProgress | undefined;
    readonly unless?: ((now: Uint8Array | undefined) => void) | undefined;
  },
): Promise<void> {
  const temporary = at(`.treadle-${process.pid}-${++count}.tmp`);
  const mode = await modeOf(at(name));
  const handle = await open(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    mode ?? 0o666,
  );
  try {
    try {
      for (let done = 0; done < bytes.length; done += CHUNK_BYTES) {
        const chunk = bytes.subarray(done, done + CHUNK_BYTES);
        for (let sent = 0; sent < chunk.length;) sent += (await handle.write(chunk, sent)).bytesWritten;
        progress?.(Math.min(done + CHUNK_BYTES, bytes.length), bytes.length);
      }
      if (mode !== undefined) await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (unless !== undefined) unless(await contentOf(at(name)));
    await rename(temporary, at(name));
  } catch (error) {
    await unlink(temporary).catch(() => undefined); // what went wrong is told already
    throw error;
  }
}

async function modeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).mode & 0o777;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function contentOf(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file, { flag: constants.O_RDONLY | constants.O_NOFOLLOW });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
