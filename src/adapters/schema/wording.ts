import type { z } from 'zod';
import { isObject } from '../../base/json.ts';

type Issue = z.core.$ZodIssue;

/** One thing that does not fit, in words for people and models. */
export interface Misfit {
  readonly path: readonly PropertyKey[];
  /** Undefined when nothing was there. */
  readonly found: string | undefined;
  readonly wanted: string;
  /** A key that the schema does not have, with those it has instead. */
  readonly unknownKey?: string;
  /** What the author of a refinement says, as a whole sentence. */
  readonly said?: string;
  /** What our own refinements say besides. */
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Characters of a string that are quoted back. */
const QUOTED = 60;

/** A value as it is quoted in a problem: its kind, and what it is where that is short. */
export function quote(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `string ${JSON.stringify(value.length > QUOTED ? `${value.slice(0, QUOTED).toWellFormed()}…` : value)}`;
    case 'number':
    case 'boolean':
      return `${typeof value} ${value}`;
    case 'undefined':
      return 'nothing';
    default:
      return value === null
        ? 'null'
        : Array.isArray(value)
          ? value.length === 0
            ? 'an empty array'
            : 'an array'
          : 'an object';
  }
}

/** Every misfit of a value that zod refused. Parse with `reportInput: true`, or nothing can be quoted. */
export function misfits(issues: readonly Issue[]): readonly Misfit[] {
  return issues.flatMap((issue) => describe(issue, []));
}

function describe(issue: Issue, above: readonly PropertyKey[]): readonly Misfit[] {
  const path = [...above, ...issue.path];
  const found = issue.input === undefined ? undefined : quote(issue.input);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((name) => ({ path: [...path, name], found: undefined, wanted: '', unknownKey: name }));
    case 'invalid_union':
      return union(issue, path, found);
    case 'invalid_key':
    case 'invalid_element':
      return issue.issues.flatMap((inner) => describe(inner, path));
    case 'custom':
      return [
        {
          path,
          found,
          wanted: issue.message,
          said: issue.message,
          ...(issue.params === undefined ? {} : { params: issue.params }),
        },
      ];
    case 'invalid_type':
    case 'invalid_value':
    case 'invalid_format':
    case 'not_multiple_of':
    case 'too_small':
    case 'too_big':
      return [{ path, found, wanted: wanted(issue) }];
  }
}

type UnionIssue = Extract<Issue, { code: 'invalid_union' }>;

/** The member that was meant, if one stands out: then its problems are the problems. Else what all members want. */
function union(issue: UnionIssue, path: readonly PropertyKey[], found: string | undefined): readonly Misfit[] {
  if (issue.errors.length === 0) {
    const options = 'options' in issue && Array.isArray(issue.options) ? (issue.options as readonly unknown[]) : [];
    const { input, discriminator } = issue;
    const last: unknown = isObject(input) && discriminator !== undefined ? input[discriminator] : undefined;
    return [{ path, found: last === undefined ? undefined : quote(last), wanted: choices(options) }];
  }
  const members = issue.errors.map((inner) => misfits(inner));
  const meant = members.filter((inner) => inner.every((one) => one.path.length > 0));
  const [best] = meant.sort((left, right) => score(left) - score(right));
  if (best !== undefined) return best.map((one) => ({ ...one, path: [...path, ...one.path] }));
  const all = members.flatMap((inner) => inner.filter((one) => one.path.length === 0).map((one) => one.wanted));
  return [{ path, found, wanted: [...new Set(all)].join(', or ') }];
}

/** A key that a member does not have says more strongly than a wrong value that this member was not meant. */
function score(member: readonly Misfit[]): number {
  return member.reduce(
    (sum, { unknownKey, found }) => sum + (unknownKey !== undefined || found === undefined ? 10 : 1),
    0,
  );
}

const KINDS: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
  nonoptional: 'a value',
};

function wanted(
  issue: Exclude<Issue, { code: 'unrecognized_keys' | 'invalid_union' | 'invalid_key' | 'invalid_element' | 'custom' }>,
): string {
  switch (issue.code) {
    case 'invalid_type':
      return KINDS[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return choices(issue.values);
    case 'invalid_format':
      return issue.format === 'regex' ? `a match of ${String(issue.pattern)}` : `a valid ${issue.format}`;
    case 'not_multiple_of':
      return `a multiple of ${String(issue.divisor)}`;
    case 'too_small':
      return bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
    case 'too_big':
      return bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
  }
}

const UNITS: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'item',
  set: 'item',
  map: 'entry',
  object: 'entry',
};

function bound(origin: string, comparison: string, limit: number | bigint): string {
  const unit = UNITS[origin];
  const many = Number(limit) === 1 ? unit : unit === 'entry' ? 'entries' : `${String(unit)}s`;
  return `${comparison} ${String(limit)}${unit === undefined ? '' : ` ${String(many)}`}`;
}

function choices(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  return texts.length === 1 ? String(texts[0]) : `one of ${texts.join(', ')}`;
}

/** `/a/0/b`, as JSON Pointer writes it; `/` for the whole value. */
export function pointer(path: readonly PropertyKey[]): string {
  return `/${path.map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
}
