/** What a document may be that can be read. */
export type DocumentKind = 'html' | 'pdf' | 'docx';

export interface DocumentText {
  readonly title?: string | undefined;
  readonly byline?: string | undefined;
  /** As the document says it. */
  readonly published?: string | undefined;
  /** Markdown of a page or of a Word file, in one piece; plain text of a PDF file by page. */
  readonly pages: readonly string[];
  /** Of a web page: no main text could be told from the rest, so this is all of it. */
  readonly isWhole?: boolean | undefined;
}

export interface DocumentRequest {
  readonly kind: DocumentKind;
  readonly bytes: Uint8Array;
  /** Where a web page is from, for its links. */
  readonly url?: string | undefined;
  /** Of a web page: all of it, with its menus. */
  readonly whole?: boolean | undefined;
  /** Of a web page: how its bytes are text, as its header says. */
  readonly charset?: string | undefined;
}

/**
 * What it is by its first bytes, else by what others say of it. Undefined for what is none of these.
 *
 * Servers say `application/octet-stream` of files that they do not know.
 */
export function kindOf(bytes: Uint8Array, mediaType = '', name = ''): DocumentKind | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 5));
  if (start === '%PDF-') return 'pdf';
  const isZip = start.startsWith('PK\u0003\u0004');
  const saysWord = /wordprocessingml|msword/.test(mediaType) || /\.docx$/i.test(name);
  if (isZip) return saysWord ? 'docx' : undefined;
  return /^(text\/html|application\/xhtml\+xml)\b/i.test(mediaType) || /\.x?html?$/i.test(name) ? 'html' : undefined;
}
