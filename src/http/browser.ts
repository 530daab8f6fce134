import { isIP } from 'node:net';
import { Refusal } from './refusal.ts';

/** Names under which only this machine reaches this machine. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true;
  return isIP(name) === 4 && name.startsWith('127.');
}

export interface BrowserRules {
  /** Origins of pages that may call this server, besides its own. */
  readonly cors: readonly string[];
  /** The server's own origin as others see it. */
  readonly publicUrl?: string | undefined;
}

/**
 * What a server without keys asks of a request, since a browser at the same machine would send it for any page it has open.
 *
 * The name in `Host` has to be the machine's own (a page whose name was rebound to 127.0.0.1 still sends its name), and a
 * request that a page sent has to come from a page of this server or an allowed one. Throws `host_refused` and `origin_refused`.
 */
export function refuseStrangers(
  {
    host,
    origin,
    site,
  }: { readonly host: string; readonly origin?: string | undefined; readonly site?: string | undefined },
  { cors, publicUrl }: BrowserRules,
): void {
  const name = URL.parse(`http://${host}`)?.hostname ?? '';
  if (!isLoopback(name) && !(publicUrl !== undefined && URL.parse(publicUrl)?.host === host))
    throw new Refusal(
      'host_refused',
      'Without keys, the server answers to localhost only. Make one with `treadle keys create`.',
    );
  if (origin === undefined) {
    // A form or an image of another page: browsers leave the origin out of some, and say this of all.
    if (site === 'cross-site' || site === 'same-site') throw new Refusal('origin_refused');
    return;
  }
  const own = [`http://${host}`, `https://${host}`, publicUrl === undefined ? undefined : URL.parse(publicUrl)?.origin];
  if (!own.includes(origin) && !cors.includes(origin)) throw new Refusal('origin_refused');
}
