import type { GuardOptions } from './guarded-requests.ts';

export interface ImageLimits extends Pick<GuardOptions, 'allowHosts' | 'lookup'> {
  /** Of one image: 5 MiB when absent. */
  readonly mostBytes?: number | undefined;
  /** Until all of it is there: 10 s when absent. */
  readonly timeoutMs?: number | undefined;
}

export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif';

export type FetchedImage =
  | { readonly outcome: 'image'; readonly mediaType: ImageType; readonly bytes: Uint8Array }
  /** In words for the person who wanted to see it. */
  | { readonly outcome: 'refused'; readonly why: string };

export interface Images {
  /** Looks at an address that a model or a tool has named. Sends nothing but the address, and follows it to no other host. */
  fetch(url: string, signal: AbortSignal): Promise<FetchedImage>;
}

const MOST_BYTES = 5 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
const HEADERS = { accept: 'image/avif,image/webp,image/png,image/jpeg,image/gif', 'user-agent': 'treadle' };

/**
 * Images from elsewhere, for people who asked to see them.
 *
 * The host is the only one that is asked: a person agreed to this one, and a redirect to another would take along what
 * stands in the address. What comes is an image by its first bytes, whatever its headers call it; a drawing in SVG is none.
 */
export function createImages({ mostBytes = MOST_BYTES, timeoutMs = TIMEOUT_MS, ...guard }: ImageLimits = {}): Images {
  return {
    async fetch(given, signal) {
      const url = URL.parse(given);
      if (url === null || !/^https?:$/.test(url.protocol)) return refused('it is no address of the web');
      if (url.username !== '' || url.password !== '') return refused('its address holds a name or a password');
      // With the first image that somebody wants: a server that shows none does not wait for it.
      const { createGuardedRequests, GuardRefusal } = await import('./guarded-requests.ts');
      const requests = createGuardedRequests({ ...guard, onlyHosts: [url.host] });
      const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      try {
        const { status, bytes } = await requests.send({ url, headers: HEADERS, signal: until, mostBytes });
        if (status !== 200) return refused(`the host answered with ${status}`);
        const mediaType = imageType(bytes);
        return mediaType === undefined ? refused('what came is no image') : { outcome: 'image', mediaType, bytes };
      } catch (error) {
        if (signal.aborted) throw error;
        if (error instanceof GuardRefusal) return refused(error.message);
        return refused(until.aborted ? `it did not come within ${timeoutMs} ms` : 'the host cannot be reached');
      } finally {
        await requests.close();
      }
    },
  };
}

function refused(why: string): FetchedImage {
  return { outcome: 'refused', why };
}

const TYPES: readonly (readonly [type: ImageType, at: number, start: string])[] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF87a'],
  ['image/gif', 0, 'GIF89a'],
  ['image/webp', 8, 'WEBP'],
  ['image/avif', 4, 'ftypavif'],
  ['image/avif', 4, 'ftypavis'],
];

/** By what is in it: what others call it says nothing. */
function imageType(bytes: Uint8Array): ImageType | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 16));
  return TYPES.find(([, at, start]) => head.startsWith(start, at))?.[0];
}
