const NEWLINE = 0x0a;

/** Bytes into lines of UTF-8. Keeps pieces until a line is whole, and throws when one is longer than allowed. */
export class LineSplitter {
  readonly #most: number;
  readonly #emit: (line: string) => void;
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(most: number, emit: (line: string) => void) {
    this.#most = most;
    this.#emit = emit;
  }

  add(chunk: Buffer): void {
    let rest = chunk;
    for (let at = rest.indexOf(NEWLINE); at !== -1; at = rest.indexOf(NEWLINE)) {
      this.#keep(rest.subarray(0, at));
      const line = Buffer.concat(this.#pieces).toString('utf8').replace(/\r$/, '');
      this.#pieces = [];
      this.#length = 0;
      rest = rest.subarray(at + 1);
      if (line !== '') this.#emit(line);
    }
    this.#keep(rest);
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#most) {
      this.#pieces = [];
      this.#length = 0;
      throw new Error(`a message of more than ${this.#most} bytes`);
    }
    if (piece.length > 0) this.#pieces.push(piece);
  }
}
