import { createHmac, timingSafeEqual } from 'node:crypto';
import { TreadleError } from '../../base/errors.ts';
import type { View } from './page.ts';

/**
 * Where a reader stands.
 *
 * `scan` goes through the entries as they were at log point `pin`, up or down; it has been handed those up to `position`.
 * `tail` has everything as it was at `base`, and of what changed from there to `pin` all up to `revision` and `position`.
 */
export type Cursor =
  | {
      readonly kind: 'scan';
      readonly view: View;
      readonly order: 'asc' | 'desc';
      readonly pin: number;
      readonly position: number;
    }
  | {
      readonly kind: 'tail';
      readonly view: View;
      readonly base: number;
      readonly pin: number;
      readonly revision: number;
      readonly position: number;
    };

/** Where a list of runs goes on. */
export interface ListPlace {
  readonly updatedAt: number;
  readonly id: string;
}

/** Makes opaque texts of places and takes them back only from where they were given. Throws `invalid_cursor`. */
export interface Cursors {
  /** `bound` is what the cursor belongs to: run, tenant and the like. It is signed with it and is not in it. */
  write(bound: readonly (string | number)[], cursor: Cursor): string;
  read(bound: readonly (string | number)[], text: string): Cursor;
  writePlace(bound: readonly (string | number)[], place: ListPlace): string;
  readPlace(bound: readonly (string | number)[], text: string): ListPlace;
}

/** First character of what is signed. A later form gets another one, and this one stays readable. */
const VERSION = '1';
const MAC_BYTES = 16;

export function createCursors(secret: string): Cursors {
  const macOf = (bound: readonly (string | number)[], body: string): Buffer =>
    createHmac('sha256', secret)
      .update(JSON.stringify(['treadle cursor', ...bound, body]))
      .digest()
      .subarray(0, MAC_BYTES);

  function seal(bound: readonly (string | number)[], body: string): string {
    return Buffer.concat([Buffer.from(body, 'utf8'), macOf(bound, body)]).toString('base64url');
  }

  function unseal(bound: readonly (string | number)[], text: string): string {
    const bytes = Buffer.from(text, 'base64url');
    const body = bytes.subarray(0, -MAC_BYTES).toString('utf8');
    // Written again, it must be the same: base64 has texts that differ and mean the same bytes.
    const isWhole = bytes.length > MAC_BYTES && bytes.toString('base64url') === text;
    const isOurs = isWhole && timingSafeEqual(bytes.subarray(-MAC_BYTES), macOf(bound, body));
    if (!isOurs || !body.startsWith(VERSION)) throw invalidCursor();
    return body.slice(VERSION.length);
  }

  return {
    write: (bound, cursor) => seal(bound, VERSION + written(cursor)),
    read: (bound, text) => parsed(unseal(bound, text)),
    writePlace: (bound, { updatedAt, id }) => seal(bound, `${VERSION}l${updatedAt.toString(36)}.${id}`),
    readPlace(bound, text) {
      const [, updatedAt, id] = /^l([0-9a-z]+)\.(.*)$/s.exec(unseal(bound, text)) ?? [];
      if (updatedAt === undefined || id === undefined) throw invalidCursor();
      return { updatedAt: Number.parseInt(updatedAt, 36), id };
    },
  };
}

export function invalidCursor(): TreadleError {
  return new TreadleError('invalid_cursor', {
    hint: 'send a cursor as it was given, to the run that gave it; a failed read is no reason to create a run',
  });
}

const VIEWS: readonly View[] = ['all', 'messages'];

function written(cursor: Cursor): string {
  const view = VIEWS.indexOf(cursor.view);
  const kind = cursor.kind === 'tail' ? 't' : cursor.order === 'asc' ? 's' : 'd';
  const numbers =
    cursor.kind === 'scan'
      ? [cursor.pin, cursor.position]
      : [cursor.base, cursor.pin, cursor.revision, cursor.position];
  return `${kind}${view}${numbers.map((one) => one.toString(36)).join('.')}`;
}

function parsed(body: string): Cursor {
  const view = VIEWS[Number(body[1])];
  const [first = 0, second = 0, third = 0, fourth = 0] = body
    .slice(2)
    .split('.')
    .map((one) => Number.parseInt(one, 36));
  if (view === undefined) throw invalidCursor();
  switch (body[0]) {
    case 's':
      return { kind: 'scan', view, order: 'asc', pin: first, position: second };
    case 'd':
      return { kind: 'scan', view, order: 'desc', pin: first, position: second };
    case 't':
      return { kind: 'tail', view, base: first, pin: second, revision: third, position: fourth };
    default:
      throw invalidCursor();
  }
}
