// What the validators of all providers share: reading an unknown body, and the rules that every provider has.

export type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fields(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function isBlank(value: unknown): boolean {
  return typeof value !== 'string' || value.trim() === '';
}

/** Paths of strings that hold half a character: a strict JSON reader refuses the whole body. */
export function halfCharacters(value: unknown, path = 'body'): string[] {
  if (typeof value === 'string') return value.isWellFormed() ? [] : [`${path} holds a lone surrogate`];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [
    ...(key.isWellFormed() ? [] : [`a key of ${path} holds a lone surrogate`]),
    ...halfCharacters(item, `${path}.${key}`),
  ]);
}

/** A tool's schema: an object, and every reference resolves within it. */
export function schemaProblems(schema: unknown, path: string): string[] {
  if (!isFields(schema)) return [`${path} is not an object`];
  const problems = schema['type'] === 'object' ? [] : [`${path}.type is not "object"`];
  for (const ref of references(schema)) {
    if (!resolves(ref, schema)) problems.push(`${path} refers to ${ref}, which is not there`);
  }
  return problems;
}

function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = isFields(value) && typeof value['$ref'] === 'string' ? [value['$ref']] : [];
  return [...own, ...Object.values(value).flatMap(references)];
}

function resolves(ref: string, root: Fields): boolean {
  if (ref === '#') return true;
  if (!ref.startsWith('#/')) return false;
  let value: unknown = root;
  for (const step of ref.slice(2).split('/')) {
    if (typeof value !== 'object' || value === null) return false;
    value = (value as Fields)[step.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return value !== undefined;
}

/** Every object of a schema lists all its keys as required and allows no others: OpenAI's strict mode. */
export function strictProblems(schema: unknown, path: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((item, index) => strictProblems(item, `${path}.${index}`));
  if (!isFields(schema)) return [];
  const problems: string[] = [];
  if (schema['type'] === 'object') {
    if (schema['additionalProperties'] !== false) problems.push(`${path} allows additional properties`);
    const required = list(schema['required']);
    for (const key of Object.keys(fields(schema['properties']))) {
      if (!required.includes(key)) problems.push(`${path}.${key} is not required`);
    }
  }
  return [...problems, ...Object.entries(schema).flatMap(([key, item]) => strictProblems(item, `${path}.${key}`))];
}

export function isJsonObject(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    return isFields(JSON.parse(value));
  } catch {
    return false;
  }
}

export function repeated(values: readonly unknown[]): unknown[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}
