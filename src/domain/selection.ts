import { z } from 'zod';
import { isObject } from '../base/json.ts';

/** By group: all of it, or the named entries. */
const disabledGroups = z.record(z.string(), z.union([z.literal(true), z.array(z.string())]));

/** What is to be done about a change that would make a warm prompt cold. */
export const CACHE_POLICIES = ['accept', 'confirm', 'defer_cold', 'defer_conversation'] as const;
export const cachePolicy = z.enum(CACHE_POLICIES);
export type CachePolicy = z.infer<typeof cachePolicy>;

/** Kinds of changes that a policy is set for: another model, or other tools, servers, services and skills. */
export const CHANGE_CLASSES = ['model_switch', 'capability_toggle'] as const;
export type ChangeClass = (typeof CHANGE_CLASSES)[number];

/** The lists of a selection that hold groups with entries. */
export const GROUP_KINDS = ['tools', 'mcp', 'named_services'] as const;
export type GroupKind = (typeof GROUP_KINDS)[number];

/**
 * What one user removed from a grant, and the one model picked: a deny-list, which cannot add.
 *
 * Names are what they were when the record was written. A name that means nothing any more is harmless.
 */
export const selection = z.strictObject({
  schema_version: z.literal(1),
  disabled: z.strictObject({
    tools: disabledGroups,
    mcp: disabledGroups,
    named_services: disabledGroups,
    skills: z.array(z.string()),
  }),
  model: z.strictObject({ provider: z.string(), model: z.string() }).optional(),
  cache_policy: z.strictObject({ model_switch: cachePolicy, capability_toggle: cachePolicy }).partial().optional(),
});
export type Selection = z.infer<typeof selection>;

export const emptySelection: Selection = {
  schema_version: 1,
  disabled: { tools: {}, mcp: {}, named_services: {}, skills: [] },
};

export interface ReadSelection {
  readonly selection: Selection;
  /** Why something in the record was passed over, as sentences; empty when all of it was understood. */
  readonly ignored: readonly string[];
}

/**
 * A stored record, read with suspicion: what cannot be understood is told, and counts as it is `known` from before, entry
 * by entry; as not there where nothing is known.
 *
 * Total. Nothing in a record can make this throw or break a turn; absent means that nothing was chosen.
 */
export function readSelection(stored: unknown, known: Selection = emptySelection): ReadSelection {
  if (stored === undefined || stored === null) return { selection: emptySelection, ignored: [] };
  const ignored: string[] = [];
  try {
    return { selection: read(stored, ignored, known), ignored };
  } catch {
    return { selection: known, ignored: ['The record cannot be read.'] };
  }
}

/** Parts of a stored row that are not known to be a selection yet. */
export function read(stored: unknown, ignored: string[], known: Selection): Selection {
  if (!isObject(stored)) {
    ignored.push(`The record is not an object but ${kindOf(stored)}.`);
    return known;
  }
  const version = stored['schema_version'];
  if (version !== undefined && version !== 1) {
    ignored.push(`The record has schema_version ${kindOf(version)}; this version reads 1.`);
    return known;
  }
  const disabled: Record<string, unknown> = objectAt(stored['disabled'], 'disabled', ignored) ?? known.disabled;
  const model = optional(selection.shape.model, stored['model'], 'model', ignored, known.model);
  const policy = optional(
    selection.shape.cache_policy,
    stored['cache_policy'],
    'cache_policy',
    ignored,
    known.cache_policy,
  );
  return {
    schema_version: 1,
    disabled: {
      tools: groups(disabled['tools'], 'disabled.tools', ignored, known.disabled.tools),
      mcp: groups(disabled['mcp'], 'disabled.mcp', ignored, known.disabled.mcp),
      named_services: groups(
        disabled['named_services'],
        'disabled.named_services',
        ignored,
        known.disabled.named_services,
      ),
      skills: names(disabled['skills'], 'disabled.skills', ignored, known.disabled.skills) ?? [],
    },
    ...(model === undefined ? {} : { model }),
    ...(policy === undefined ? {} : { cache_policy: policy }),
  };
}

type Groups = Selection['disabled']['tools'];

function groups(value: unknown, path: string, ignored: string[], known: Groups): Groups {
  const entries: [string, true | string[]][] = [];
  for (const [name, entry] of Object.entries(objectAt(value, path, ignored) ?? known)) {
    // `false` and nothing are what a toggle leaves behind when it is taken back.
    if (entry === false || entry === null || entry === undefined) continue;
    const before = Object.hasOwn(known, name) ? known[name] : undefined;
    const denied = entry === true ? true : names(entry, `${path}.${name}`, ignored, before);
    if (denied !== undefined) entries.push([name, denied]);
  }
  return Object.fromEntries(entries); // defines own properties, also one called __proto__
}

/** What is no list of names is what was known; in a list that is half one, what was known stays denied. */
function names(
  value: unknown,
  path: string,
  ignored: string[],
  known: readonly string[] | undefined,
): string[] | undefined;
function names(
  value: unknown,
  path: string,
  ignored: string[],
  known: Groups[string] | undefined,
): true | string[] | undefined;
function names(
  value: unknown,
  path: string,
  ignored: string[],
  known: true | readonly string[] | undefined,
): true | string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const before = known === undefined || known === true ? known : [...known];
  if (!Array.isArray(value)) {
    ignored.push(`${path} is ${kindOf(value)}, not a list of names.`);
    return before;
  }
  const texts = value.filter((one): one is string => typeof one === 'string');
  if (texts.length === value.length) return texts;
  ignored.push(`${path} holds entries that are not names.`);
  return before === true ? true : [...new Set([...texts, ...(before ?? [])])];
}

/** Undefined for what is no object: what was known counts then. */
function objectAt(value: unknown, path: string, ignored: string[]): Record<string, unknown> | undefined {
  if (isObject(value)) return value;
  if (value === undefined || value === null) return {};
  ignored.push(`${path} is ${kindOf(value)}, not an object.`);
  return undefined;
}

function optional<T>(
  schema: z.ZodType<T>,
  value: unknown,
  path: string,
  ignored: string[],
  known: T | undefined,
): T | undefined {
  if (value === undefined || value === null) return undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  ignored.push(`${path} is not of the known shape.`);
  return known;
}

function kindOf(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}
