// The thread that reads one document, and ends with it: whatever a document does to its reader stays in here.
import { parentPort, workerData } from 'node:worker_threads';
import { assert, unreachable } from '../../base/assert.ts';
import { TreadleError } from '../../base/errors.ts';
import { readArticle } from './article.ts';
import type { DocumentRequest, DocumentText } from './document.ts';
import { readDocx } from './docx.ts';
import { readPdf } from './pdf.ts';

export type ReadReply =
  | { readonly ok: true; readonly text: DocumentText }
  | { readonly ok: false; readonly message: string; readonly missing?: readonly string[] };

async function read({ kind, bytes, url, whole, charset }: DocumentRequest): Promise<DocumentText> {
  switch (kind) {
    case 'html': {
      const text = decoder(charset, bytes).decode(bytes);
      const { markdown, ...rest } = await readArticle(text, new URL(url ?? 'about:blank'), { whole });
      return { ...rest, pages: [markdown] };
    }
    case 'pdf':
      return await readPdf(bytes);
    case 'docx':
      return { pages: [await readDocx(bytes)] };
    default:
      return unreachable(kind);
  }
}

/** As the header says, else as the page says in its head, else UTF-8. */
function decoder(charset: string | undefined, bytes: Uint8Array): InstanceType<typeof TextDecoder> {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 1_024));
  const said = charset ?? /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1];
  try {
    return new TextDecoder(said ?? 'utf-8');
  } catch {
    return new TextDecoder(); // a name that nobody knows
  }
}

async function answer(request: DocumentRequest): Promise<ReadReply> {
  try {
    return { ok: true, text: await read(request) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const missing = TreadleError.is(error) ? error.detail.data?.['packages'] : undefined;
    return { ok: false, message, ...(Array.isArray(missing) && { missing: missing.map(String) }) };
  }
}

assert(parentPort !== null, 'this is a thread');
parentPort.postMessage(await answer(workerData as DocumentRequest)); // what createDocumentReader put there
