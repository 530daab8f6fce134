const NAME = 'treadle.key';
const listeners = new Set<() => void>();

/** The API key of this tab; none where the server lets this machine in without one. Forgotten when the tab closes. */
export function currentKey(): string | undefined {
  return sessionStorage.getItem(NAME) ?? undefined;
}

export function setKey(key: string | undefined): void {
  if (key === undefined) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, key);
  for (const listener of listeners) listener();
}

export function onKeyChanged(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
