import { createContext, use, useCallback, useState } from 'react';
import { readJson } from '../json.ts';

/** Whose things are kept: the run that is looked at. */
export const KeptOf = createContext('');

const PREFIX = 'treadle.kept.';

/** What a tab has open and half written, by run. */
const kept = new Map<string, Map<string, unknown>>();

/**
 * State of a part of a run that outlives the part: the list draws what is in sight, and takes the rest off the page. It
 * also outlives going elsewhere, signing in again and a reload, and ends with the tab.
 *
 * `name` says what it is and of what, by its entry or request. Undefined forgets it.
 */
export function useKept<T>(name: string, initial: T): readonly [T, (next: T | undefined) => void] {
  const run = use(KeptOf);
  const [value, setValue] = useState<T>(() => keptOf(run, name, initial));
  const keep = useCallback(
    (next: T | undefined) => {
      const own = room(run);
      if (next === undefined) own.delete(name);
      else own.set(name, next);
      store(run, own);
      setValue(next ?? initial);
    },
    [run, name, initial],
  );
  return [value, keep];
}

/** Forgets everything that was kept of one thing: what names end with. */
export function useForget(): (thing: string) => void {
  const run = use(KeptOf);
  return (thing) => {
    const own = room(run);
    for (const name of own.keys()) if (name.endsWith(` ${thing}`)) own.delete(name);
    store(run, own);
  };
}

/** Whether something is folded out. What nobody has touched is as it is at first, also when that changes. */
export function useFold(id: string, isOpenAtFirst = false) {
  const [isOpen, setOpen] = useKept<boolean | undefined>(foldOf(id), undefined);
  return { open: isOpen ?? isOpenAtFirst, onOpenChange: (next: boolean) => setOpen(next) } as const;
}

/** Whether somebody has folded out one of these. */
export function isAnyOpen(run: string, ids: readonly string[]): boolean {
  return ids.some((id) => keptOf<boolean>(run, foldOf(id), false));
}

const foldOf = (id: string): string => `fold ${id}`;

/** What was kept under a name; `otherwise` where nothing was. */
function keptOf<T>(run: string, name: string, otherwise: T): T {
  const found = room(run).get(name);
  // Nothing but `useKept` writes here, and a name has one type. What an older page of this tab left is looked at once.
  return found === undefined || (otherwise !== undefined && typeof found !== typeof otherwise)
    ? otherwise
    : (found as T);
}

function room(run: string): Map<string, unknown> {
  const known = kept.get(run);
  if (known !== undefined) return known;
  const read = new Map(stored(run));
  kept.set(run, read);
  return read;
}

function stored(run: string): readonly (readonly [string, unknown])[] {
  try {
    const text = sessionStorage.getItem(PREFIX + run);
    const found = text === null ? {} : readJson(text);
    return typeof found === 'object' && found !== null ? Object.entries(found) : [];
  } catch {
    return []; // something else wrote there
  }
}

function store(run: string, own: ReadonlyMap<string, unknown>): void {
  try {
    if (own.size === 0) sessionStorage.removeItem(PREFIX + run);
    else sessionStorage.setItem(PREFIX + run, JSON.stringify(Object.fromEntries(own)));
  } catch {
    // There is no room for it: it is kept for as long as the page stays open.
  }
}
