/** What a program said: its beginning and its end, when it is too much to keep. Whole characters, as far as it sent them. */
export class KeptOutput {
  readonly #most: number;
  readonly #decoder = new TextDecoder();
  #head = '';
  #tail = '';
  #length = 0;
  #bytes = 0;
  #unread = '';

  constructor(most: number) {
    this.#most = Math.floor(most / 2);
  }

  /** Takes bytes in, and gives back what they say. */
  take(bytes: Uint8Array | undefined): string {
    const text = bytes === undefined ? this.#decoder.decode() : this.#decoder.decode(bytes, { stream: true });
    this.#bytes += bytes?.length ?? 0;
    this.#length += text.length;
    const room = this.#most - this.#head.length;
    this.#head += text.slice(0, Math.max(0, room));
    this.#tail = (this.#tail + text.slice(Math.max(0, room))).slice(-this.#most);
    this.#unread = (this.#unread + text).slice(-this.#most);
    return text;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get text(): string {
    const left = this.#length - this.#head.length - this.#tail.length;
    const between = left > 0 ? `\n[… ${left} characters were not kept …]\n` : '';
    return (this.#head + between + this.#tail).toWellFormed();
  }

  /** What came since the last time this was asked. */
  fresh(): string {
    const text = this.#unread;
    this.#unread = '';
    return text.toWellFormed();
  }
}
