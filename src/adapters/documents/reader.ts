import { Worker } from 'node:worker_threads';
import type { DocumentRequest, DocumentText } from './document.ts';
import type { ReadReply } from './reading.ts';

export type ReadOutcome =
  | { readonly ok: true; readonly text: DocumentText }
  /** `missing`: packages that have to be installed before such a document can be read. */
  | { readonly ok: false; readonly why: string; readonly missing?: readonly string[] | undefined };

export type DocumentReader = (request: DocumentRequest, signal: AbortSignal) => Promise<ReadOutcome>;

export interface ReaderLimits {
  /** Mebibytes that the text and its reader may take. */
  readonly memoryMb?: number;
  readonly timeMs?: number;
}

/**
 * Reads documents that strangers wrote, each in a thread of its own: one that is made to take all memory or to take for
 * ever ends its thread and nothing else. Never rejects.
 */
export function createDocumentReader({ memoryMb = 256, timeMs = 20_000 }: ReaderLimits = {}): DocumentReader {
  return (request, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) {
        resolve({ ok: false, why: 'it was given up' });
        return;
      }
      const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
      const worker = new Worker(new URL(`./reading.${extension}`, import.meta.url), {
        workerData: request,
        resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
        env: {},
        stdout: true,
        stderr: true,
      });
      const end = (outcome: ReadOutcome): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        resolve(outcome);
        void worker.terminate();
      };
      const giveUp = (): void => {
        end({ ok: false, why: 'it was given up' });
      };
      const timer = setTimeout(() => {
        end({ ok: false, why: `reading it took longer than ${timeMs / 1_000} s` });
      }, timeMs);
      signal.addEventListener('abort', giveUp);
      worker.once('message', (reply: ReadReply) => {
        end(reply.ok ? reply : { ok: false, why: reply.message, missing: reply.missing });
      });
      worker.once('error', (error: NodeJS.ErrnoException) => {
        const isFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
        end({ ok: false, why: isFull ? `reading it took more than ${memoryMb} MiB` : error.message });
      });
      worker.once('exit', () => {
        end({ ok: false, why: 'its reader ended' });
      });
    });
}
