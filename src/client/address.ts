import { ClientError } from './client-error.ts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * The address that every path is put behind, without a slash at its end.
 *
 * A key must not travel where anybody can read it: plain HTTP is for this machine, or for networks that are named safe.
 */
export function baseAddress(url: string, plainHttp: boolean): string {
  const refuse = (why: string): ClientError => new ClientError('invalid_option', `url: ${why}`, { field: 'url' });
  if (!URL.canParse(url)) throw refuse('it is not an absolute address, such as https://treadle.example');
  const parsed = new URL(url);
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') throw refuse(`it begins with ${parsed.protocol}`);
  if (parsed.username !== '' || parsed.password !== '') throw refuse('it holds a user or a password');
  if (parsed.search !== '' || url.includes('?')) throw refuse('it holds a query');
  if (parsed.hash !== '' || url.includes('#')) throw refuse('it holds a fragment');
  if (parsed.protocol === 'http:' && !plainHttp && !LOOPBACK.test(parsed.hostname))
    throw refuse('plain HTTP is for this machine only; use https, or say plainHttp: true for a network you trust');
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '');
}

/** What an API key may be made of: what fits into a header, and no space. */
export function checkKey(key: string): string {
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new ClientError('invalid_option', 'key: it is empty, or holds a space or something else that no key has', {
      field: 'key',
    });
  return key;
}

/** One path segment. Every client writes the same bytes for the same id. Throws for one that would lead elsewhere. */
export function segment(id: string): string {
  // Even written as %2E, an address treats them as ways up.
  if (/^\.{0,2}$/.test(id)) throw new ClientError('invalid_option', `${JSON.stringify(id)} is no id.`, { field: 'id' });
  return encoded(id);
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export function withQuery(path: string, query: Query = {}): string {
  const parts = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encoded(name)}=${encoded(String(value))}`],
  );
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`;
}
