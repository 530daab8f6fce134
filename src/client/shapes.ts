import { isObject } from '../base/json.ts';
import { ClientError } from './client-error.ts';
import type { AccountSignIn, Answered, Note, Page, Snapshot } from './types.ts';

// What comes from a server is checked for what is relied on, and no more: a newer server may say more than we know.

export function asSnapshot(value: unknown): Snapshot {
  const run = asObject(value, 'a run');
  need(run, 'run', { id: 'string', status: 'string', terminal: 'boolean', version: 'number', requests: 'list' });
  return run as unknown as Snapshot; // what is relied on was looked at
}

export function asPage(value: unknown): Page {
  const page = asObject(value, 'a page');
  need(page, 'page', {
    events: 'list',
    hasMore: 'boolean',
    status: 'string',
    terminal: 'boolean',
    needsInput: 'boolean',
    version: 'number',
  });
  const pending = page['pendingApproval'];
  if (pending !== undefined && (!isObject(pending) || typeof pending['kind'] !== 'string'))
    throw malformed('page: pendingApproval has no kind');
  for (const entry of page['events'] as readonly unknown[]) asEntry(entry);
  return page as unknown as Page; // as above
}

export function asEntry(value: unknown): Page['events'][number] {
  const entry = asObject(value, 'an entry');
  need(entry, 'entry', { id: 'string', role: 'string', text: 'string' });
  return entry as unknown as Page['events'][number]; // as above
}

export function asAnswered(value: unknown): Answered {
  const answered = asObject(value, 'receipts');
  need(answered, 'receipts', { receipts: 'list', open: 'list', version: 'number' });
  return answered as unknown as Answered; // as above
}

export function asSignIn(value: unknown): AccountSignIn {
  const begun = asObject(value, 'a sign-in');
  need(begun, 'sign-in', { authorizationUrl: 'string', expiresAt: 'string' });
  return begun as unknown as AccountSignIn; // as above
}

export function asNote(value: unknown): Note {
  const note = asObject(value, 'a note');
  need(note, 'note', { id: 'string', text: 'string', pinned: 'boolean' });
  return note as unknown as Note; // as above
}

/** Something with one list in it. */
export function asListed<T>(value: unknown, list: string): T {
  need(asObject(value, list), list, { [list]: 'list' });
  return value as T; // what the list holds is for people to read
}

type Kind = 'string' | 'boolean' | 'number' | 'list';

function need(value: Readonly<Record<string, unknown>>, what: string, fields: Readonly<Record<string, Kind>>): void {
  for (const [name, kind] of Object.entries(fields)) {
    const found = value[name];
    if (kind === 'list' ? !Array.isArray(found) : typeof found !== kind)
      throw malformed(`${what}: ${name} is not a ${kind}`);
  }
}

function asObject(value: unknown, what: string): Record<string, unknown> {
  if (!isObject(value)) throw malformed(`wanted ${what}`);
  return value;
}

function malformed(why: string): ClientError {
  return new ClientError('invalid_response', `The server's answer does not make sense: ${why}.`);
}
