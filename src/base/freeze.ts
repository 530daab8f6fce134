/** Freezes a value and all it holds, and returns it. What is frozen already is taken to be frozen throughout. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  // The keys of a list would be made as texts.
  if (Array.isArray(value)) for (const item of value as readonly unknown[]) deepFreeze(item);
  else for (const key in value) deepFreeze(value[key]);
  return value;
}
