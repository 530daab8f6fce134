/**
 * An immutable list that grows at its end in constant time.
 *
 * Versions share one backing array: a version is the array and how much of it counts. Appending to the newest version
 * writes one slot; appending to an older one copies first, so no version ever changes under its reader.
 */
export class AppendList<T> implements Iterable<T> {
  readonly #backing: T[];
  readonly length: number;

  private constructor(backing: T[], length: number) {
    this.#backing = backing;
    this.length = length;
  }

  static of<T>(...items: T[]): AppendList<T> {
    return new AppendList(items, items.length);
  }

  append(item: T): AppendList<T> {
    const backing = this.#backing.length === this.length ? this.#backing : this.#backing.slice(0, this.length);
    backing.push(item);
    return new AppendList(backing, this.length + 1);
  }

  /** The item at `index`, counted from the end when negative. */
  at(index: number): T | undefined {
    const position = index < 0 ? this.length + index : index;
    return position >= 0 && position < this.length ? this.#backing[position] : undefined;
  }

  /** A copy that the caller owns, with `more` after it. */
  toArray(more: readonly T[] = []): T[] {
    const own = this.#backing.length === this.length ? this.#backing : this.#backing.slice(0, this.length);
    return own.concat(more);
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let index = 0; index < this.length; index++) yield this.#backing[index] as T; // index is below length
  }
}
