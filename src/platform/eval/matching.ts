import { canonicalJson, isObject, type Json } from '../../base/json.ts';

/** What is wrong with a value, by a pattern of which objects need only have a part; undefined when it fits. */
export function mismatch(pattern: Json, value: Json | undefined, path = ''): string | undefined {
  const at = path === '' ? 'it' : path;
  if (isObject(pattern) && Object.keys(pattern).some((key) => key.startsWith('$')))
    return operators(pattern, value, at);
  if (isObject(pattern)) {
    if (!isObject(value)) return `${at} is ${shown(value)}, not an object`;
    for (const [key, part] of Object.entries<Json>(pattern)) {
      const below = mismatch(part, value[key], path === '' ? key : `${path}.${key}`);
      if (below !== undefined) return below;
    }
    return undefined;
  }
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value) || value.length !== pattern.length)
      return `${at} is ${shown(value)}, not ${shown(pattern)}`;
    for (const [index, part] of (pattern as readonly Json[]).entries()) {
      const below = mismatch(part, value[index] as Json | undefined, `${path}[${index}]`);
      if (below !== undefined) return below;
    }
    return undefined;
  }
  return value === pattern ? undefined : `${at} is ${shown(value)}, not ${shown(pattern)}`;
}

function operators(pattern: object, value: Json | undefined, at: string): string | undefined {
  for (const [name, wanted] of Object.entries(pattern) as [string, Json][]) {
    const fits = OPERATORS[name]?.(wanted, value);
    if (fits === undefined) return `${at}: ${name} is no operator`;
    if (!fits) return `${at} is ${shown(value)}, which is against ${name} ${shown(wanted)}`;
  }
  return undefined;
}

const OPERATORS: Readonly<Record<string, (wanted: Json, value: Json | undefined) => boolean>> = {
  $any: (_, value) => value !== undefined,
  $contains: (wanted, value) =>
    Array.isArray(value)
      ? value.some((item: Json) => mismatch(wanted, item) === undefined)
      : typeof value === 'string' && value.toLowerCase().includes(textOf(wanted).toLowerCase()),
  $matches: (wanted, value) => typeof value === 'string' && new RegExp(textOf(wanted), 'u').test(value),
  $gt: (wanted, value) => typeof value === 'number' && value > Number(wanted),
  $gte: (wanted, value) => typeof value === 'number' && value >= Number(wanted),
  $lt: (wanted, value) => typeof value === 'number' && value < Number(wanted),
  $lte: (wanted, value) => typeof value === 'number' && value <= Number(wanted),
  $not: (wanted, value) => mismatch(wanted, value) !== undefined,
};

function textOf(value: Json): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}

function shown(value: Json | undefined): string {
  const text = value === undefined ? 'absent' : canonicalJson(value);
  return text.length > 200 ? `${text.slice(0, 199).toWellFormed()}…` : text;
}
