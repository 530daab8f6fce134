/** Stops on our own bug. Never for input: a caller's mistake is a `TreadleError`. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Treadle bug: ${message}`);
}

/** Closes a `switch` over a union: adding a member without a case is a compile error. */
export function unreachable(value: never): never {
  throw new Error(`Treadle bug: unexpected ${JSON.stringify(value)}`);
}
