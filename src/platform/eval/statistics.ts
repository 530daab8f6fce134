/** Two-sided 95 %. */
const Z = 1.959964;

/** Wilson's interval for a rate of successes: sound for few repeats, and within 0 and 1. */
export function confidence(passed: number, of: number): readonly [number, number] {
  if (of === 0) return [0, 1];
  const rate = passed / of;
  const square = Z * Z;
  const middle = (rate + square / (2 * of)) / (1 + square / of);
  const half = (Z / (1 + square / of)) * Math.sqrt((rate * (1 - rate)) / of + square / (4 * of * of));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
