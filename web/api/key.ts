import type { ClientError } from '../../src/client/index.ts';

const NAME = 'treadle.key';
const listeners = new Set<() => void>();
let refused: ClientError | undefined;

/** The API key of this tab; none where the server lets this machine in without one. Forgotten when the tab closes. */
export function currentKey(): string | undefined {
  return sessionStorage.getItem(NAME) ?? undefined;
}

export function setKey(key: string | undefined): void {
  if (key === undefined) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, key);
  refused = undefined;
  tell();
}

/** Why the server lets nobody in with this key, or without one; undefined while it does. */
export function keyRefusal(): ClientError | undefined {
  return refused;
}

/** The server has just said so, in the middle of whatever was done. */
export function refuseKey(error: ClientError): void {
  refused = error;
  tell();
}

export function onKeyChanged(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(): void {
  for (const listener of listeners) listener();
}
