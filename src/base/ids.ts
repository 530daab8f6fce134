/** Where new identifiers and jitter come from: the only chance in the house. */
export interface IdSource {
  /** A new identifier of at most 64 characters of `A-Za-z0-9_-`, starting with `prefix_`. */
  next(prefix: string): string;
  /** A number from 0 (inclusive) to 1 (exclusive), for jitter; never for secrets. */
  fraction(): number;
}

const ALPHABET = Array.from('0123456789abcdefghjkmnpqrstvwxyz', (letter) => letter.charCodeAt(0));
const RANDOM_LENGTH = 20;

/** Random bytes fetched for many ids at once: a call for them costs more than all else of an id. */
const pool = new Uint8Array(RANDOM_LENGTH * 128);
let used = pool.length;
const letters = new Array<number>(RANDOM_LENGTH).fill(0);

/** 100 random bits an id, in an alphabet without look-alikes. */
export const randomIds: IdSource = {
  next(prefix) {
    if (used === pool.length) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    for (let at = 0; at < RANDOM_LENGTH; at++) letters[at] = ALPHABET[(pool[used++] ?? 0) & 31] ?? 0;
    // Made in one piece: letters put together one by one are kept as the chain that they were put together as.
    return `${prefix}_${String.fromCharCode(...letters)}`;
  },
  fraction: () => Math.random(),
};
