/**
 * An abort signal that exists once somebody looks at it: most work never does, and a controller costs more than it.
 * Handed out as a getter of a class: an object literal with a getter is slow to make.
 */
export class LazyAbort {
  #controller: AbortController | undefined;
  #aborted = false;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort();
  }
}
