import { createContext, use, useSyncExternalStore } from 'react';
import { api } from '../api/calls.ts';
import { KeptOf } from './kept.ts';

/** False while an answer still comes: half an address is another address. */
export const ImagesMayCome = createContext(true);

const PREFIX = 'treadle.images.';
/** Images that stay in hand, so that one that comes back into sight is not asked for again. */
const MOST = 60;

const listeners = new Set<() => void>();
const loaded = new Map<string, Promise<string>>();
/** Single images that a person asked to see, by run and address. */
const asked = new Set<string>();

export interface RemoteImage {
  readonly host: string | undefined;
  /** The person has agreed, to this image or to its host. */
  readonly isAgreed: boolean;
  readonly agree: (to: 'image' | 'host') => void;
  /** As the browser shows it without asking anybody. Rejects with the server's reason. */
  readonly load: () => Promise<string>;
  readonly forget: () => void;
}

/** An image that an answer names. Nothing of it leaves before a person agrees, to it or to its host, in this conversation. */
export function useRemoteImage(url: string | undefined): RemoteImage {
  const run = use(KeptOf);
  const mayCome = use(ImagesMayCome);
  const parsed = url === undefined ? null : URL.parse(url);
  const host = parsed !== null && /^https?:$/.test(parsed.protocol) && run !== '' ? parsed.host : undefined;
  const key = `${run} ${url ?? ''}`;
  const isAgreed = useSyncExternalStore(
    subscribe,
    () => host !== undefined && (asked.has(key) || hostsOf(run).includes(host)),
  );
  return {
    host,
    isAgreed: isAgreed && mayCome,
    agree(to) {
      if (host === undefined) return;
      if (to === 'image') asked.add(key);
      else allow(run, host);
      for (const listener of listeners) listener();
    },
    load() {
      const known = loaded.get(key);
      if (known !== undefined) return known;
      const image = api.image(run, url ?? '').then(({ mediaType, data }) => `data:${mediaType};base64,${data}`);
      loaded.set(key, image);
      for (const old of [...loaded.keys()].slice(0, -MOST)) loaded.delete(old);
      return image;
    },
    forget() {
      loaded.delete(key);
    },
  };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** What was agreed to outlives the tab, as the conversation does. */
function hostsOf(run: string): readonly string[] {
  return localStorage.getItem(PREFIX + run)?.split(' ') ?? [];
}

function allow(run: string, host: string): void {
  try {
    localStorage.setItem(PREFIX + run, [...new Set([...hostsOf(run), host])].join(' '));
  } catch {
    // There is no room: the person is asked again.
  }
}
