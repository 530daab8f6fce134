/** What stands for every value after the last that there was room for. */
export const OTHER = 'other';

/** A label that takes no more than so many values: each is a series of its own, for as long as the process lives. */
export function boundedLabel(most: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= most) return OTHER;
    known.add(value);
    return value;
  };
}
