import { kindOf } from './document.ts';
import type { DocumentReader } from './reader.ts';

export type TextOutcome =
  | { readonly ok: true; readonly title?: string | undefined; readonly pages: readonly string[] }
  | { readonly ok: false; readonly code: string; readonly why: string };

export interface TextFile {
  readonly name: string;
  readonly mediaType?: string | undefined;
  /** As text it is base64. */
  readonly content: string | Uint8Array;
}

/** The text of a file that may be a document. Never rejects. */
export function createTextReader(read: DocumentReader): (file: TextFile, signal: AbortSignal) => Promise<TextOutcome> {
  return async ({ name, mediaType, content }, signal) => {
    const bytes = typeof content === 'string' ? Buffer.from(content, 'base64') : content;
    const kind = kindOf(bytes, mediaType, name);
    if (kind === undefined) return plain(bytes, name);
    const outcome = await read({ kind, bytes, whole: true }, signal);
    if (outcome.ok) return { ok: true, title: outcome.text.title, pages: outcome.text.pages };
    const code = outcome.missing === undefined ? 'unreadable' : 'not_installed';
    return { ok: false, code, why: `${name} cannot be read: ${outcome.why}` };
  };
}

function plain(bytes: Uint8Array, name: string): TextOutcome {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return { ok: true, pages: [text] };
  } catch {
    // not text: told below
  }
  return { ok: false, code: 'unsupported', why: `${name} is neither text nor a PDF, Word or HTML file` };
}
