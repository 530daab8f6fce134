/** Where new identifiers and jitter come from: the only chance in the house. */
export interface IdSource {
  /** A new identifier of at most 64 characters of `A-Za-z0-9_-`, starting with `prefix_`. */
  next(prefix: string): string;
  /** A number from 0 (inclusive) to 1 (exclusive), for jitter; never for secrets. */
  fraction(): number;
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const RANDOM_LENGTH = 20;

/** 100 random bits an id, in an alphabet without look-alikes. */
export const randomIds: IdSource = {
  next(prefix) {
    const bytes = crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH));
    let id = '';
    for (const byte of bytes) id += ALPHABET.charAt(byte & 31);
    return `${prefix}_${id}`;
  },
  fraction: () => Math.random(),
};
