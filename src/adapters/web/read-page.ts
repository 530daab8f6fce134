import type { Instant } from '../../base/clock.ts';
import { kindOf } from '../documents/document.ts';
import type { DocumentReader } from '../documents/reader.ts';
import { FetchRefusal, type GuardedFetch } from '../../kernel/fetch.ts';
import type { WebOutcome, WebPage } from '../../kernel/web.ts';
import { codeOf } from '../services/api.ts';

/** Who asks, and until when. */
export interface Asker {
  readonly conversationId: string;
  readonly signal: AbortSignal;
  readonly now: () => Instant;
  readonly fetch: GuardedFetch;
}

export interface PageReaderOptions {
  readonly readDocument: DocumentReader;
  readonly userAgent: string;
}

export type PageReader = (url: URL, whole: boolean, asker: Asker) => Promise<WebOutcome>;

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const MOST_IMAGE_BYTES = 5 * 1024 * 1024;
const KEPT_PAGES = 32;
const KEPT_MS = 10 * 60_000;

/**
 * Reads what is at an address. A page that was read lately in the same conversation is not asked for again, so that the
 * parts of a long text fit each other. Rejects for nothing but being given up.
 */
export function createPageReader(options: PageReaderOptions): PageReader {
  const kept = new Map<string, { readonly at: Instant; readonly page: WebPage }>();
  return async (url, whole, asker) => {
    const key = [asker.conversationId, whole, url.href].join('\n');
    const known = kept.get(key);
    if (known !== undefined && asker.now() - known.at < KEPT_MS) return { ok: true, page: known.page };
    kept.delete(key);
    const outcome = await readAt(url, whole, asker, options);
    if (outcome.ok && 'page' in outcome) {
      kept.set(key, { at: asker.now(), page: outcome.page });
      const [oldest] = kept.keys();
      if (kept.size > KEPT_PAGES && oldest !== undefined) kept.delete(oldest);
    }
    return outcome;
  };
}

async function readAt(
  url: URL,
  whole: boolean,
  { signal, fetch }: Asker,
  { readDocument, userAgent }: PageReaderOptions,
): Promise<WebOutcome> {
  let reply: Response;
  let bytes: Uint8Array;
  try {
    reply = await fetch(url, {
      headers: {
        accept: 'text/markdown, text/html;q=0.9, application/pdf;q=0.8, text/plain;q=0.8, */*;q=0.5',
        'user-agent': userAgent,
      },
    });
    bytes = new Uint8Array(await reply.arrayBuffer());
  } catch (error) {
    if (signal.aborted) throw error;
    return notRead(url, error);
  }
  const { status, statusText } = reply;
  const { host, pathname, href: from } = new URL(reply.url);
  if (status < 200 || status > 299) {
    return { ok: false, code: 'http_status', why: `${host} answered ${`${status} ${statusText}`.trim()}` };
  }
  const contentType = reply.headers.get('content-type') ?? '';
  const mediaType = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(contentType)?.[1];

  const kind = kindOf(bytes, mediaType, pathname) ?? (looksLikePage(bytes, mediaType) ? 'html' : undefined);
  if (kind !== undefined) {
    const outcome = await readDocument({ kind, bytes, url: from, whole, charset }, signal);
    if (!outcome.ok)
      return { ok: false, code: outcome.missing === undefined ? 'unreadable' : 'not_installed', why: outcome.why };
    const { pages, isWhole, ...about } = outcome.text;
    const text =
      pages.length < 2 ? (pages[0] ?? '') : pages.map((page, at) => `[page ${at + 1}]\n${page}`).join('\n\n');
    return { ok: true, page: { ...about, url: from, text, note: noteOf(kind, text, isWhole === true && !whole) } };
  }
  if (IMAGES.has(mediaType)) {
    if (bytes.length > MOST_IMAGE_BYTES)
      return { ok: false, code: 'too_large', why: `a picture of ${bytes.length} bytes` };
    return { ok: true, image: { mediaType, data: Buffer.from(bytes).toString('base64'), url: from } };
  }
  if (isText(mediaType)) return { ok: true, page: { url: from, text: decoded(bytes, charset) } };
  return {
    ok: false,
    code: 'unsupported',
    why: `${host} has ${bytes.length} bytes of ${mediaType || 'an unknown type'} there, and nothing here reads that`,
  };
}

function noteOf(kind: string, text: string, isWhole: boolean): string | undefined {
  if (text.trim() === '') {
    return kind === 'pdf' ? 'it has no text: its pages are pictures' : 'it has no text: it may be made by its scripts';
  }
  return isWhole ? 'no main text could be told from the rest, so this is all of it' : undefined;
}

function notRead(url: URL, error: unknown): WebOutcome {
  if (error instanceof FetchRefusal)
    return { ok: false, code: 'refused', why: `${url.href} is not read: ${error.message}` };
  const code = codeOf(error);
  return { ok: false, code: 'unreachable', why: `${url.host} cannot be reached${code === '' ? '' : ` (${code})`}` };
}

function isText(mediaType: string): boolean {
  return /^text\/|[/+](json|xml|yaml|toml|javascript|ndjson|rss|atom)$|^application\/(x-)?(sh|sql|graphql)$/.test(
    mediaType,
  );
}

/** Some servers say no type, or say plain text of a page. */
function looksLikePage(bytes: Uint8Array, mediaType: string): boolean {
  if (mediaType !== '' && mediaType !== 'application/octet-stream') return false;
  return /^\s*(<!doctype html|<html)/i.test(new TextDecoder('latin1').decode(bytes.subarray(0, 200)));
}

function decoded(bytes: Uint8Array, charset: string | undefined): string {
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
