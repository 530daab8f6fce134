interface Backing<T> {
  items: T[];
  aside: unknown;
}

/**
 * An immutable list that grows at its end in constant time.
 *
 * Versions share one backing array: a version is the array and how much of it counts. Appending to the newest version
 * writes one slot; appending to an older one copies first, so no version ever changes under its reader.
 */
export class AppendList<T> implements Iterable<T> {
  readonly #backing: Backing<T>;
  readonly length: number;

  private constructor(backing: Backing<T>, length: number) {
    this.#backing = backing;
    this.length = length;
  }

  static of<T>(...items: T[]): AppendList<T> {
    return new AppendList({ items, aside: undefined }, items.length);
  }

  append(item: T): AppendList<T> {
    const { items } = this.#backing;
    const backing =
      items.length === this.length ? this.#backing : { items: items.slice(0, this.length), aside: undefined };
    backing.items.push(item);
    return new AppendList(backing, this.length + 1);
  }

  /** Gives back what was set aside for more items: for a list that is done growing. */
  trim(): this {
    this.#backing.items = this.#backing.items.slice();
    return this;
  }

  /**
   * A place for what somebody has made of the items and wants to find again: shared by all versions of this history, gone
   * with it, and no part of its value.
   */
  get aside(): unknown {
    return this.#backing.aside;
  }

  set aside(made: unknown) {
    this.#backing.aside = made;
  }

  /** The list with another item at an index below its length. Copies: the versions before keep theirs. */
  with(index: number, item: T): AppendList<T> {
    const items = this.#backing.items.slice(0, this.length);
    items[index] = item;
    return new AppendList({ items, aside: undefined }, this.length);
  }

  /** The item at `index`, counted from the end when negative. */
  at(index: number): T | undefined {
    const position = index < 0 ? this.length + index : index;
    return position >= 0 && position < this.length ? this.#backing.items[position] : undefined;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let index = 0; index < this.length; index++) yield this.#backing.items[index] as T; // index is below length
  }
}
