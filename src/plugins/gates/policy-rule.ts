import { z } from 'zod';
import { matchesGlob } from '../../base/glob.ts';
import { canonicalJson, isObject, type Json } from '../../base/json.ts';
import { STANDING_SCOPES } from '../../domain/allowance.ts';
import { key, requiredKey } from '../../domain/bundle-key.ts';
import { EFFECTS, type ToolDefinition } from '../../domain/tool.ts';
import type { Written } from '../../kernel/plugin.ts';

const plain = z.union([z.string(), z.number(), z.boolean(), z.null()]);
type Plain = z.infer<typeof plain>;

/** A value as it is, or what is asked of it. All that is asked has to hold. */
const matcher = z.union([
  plain,
  z.strictObject({
    glob: key(z.string(), 'A text in which `*` and `?` stand for characters.'),
    one_of: key(z.array(plain).min(1), 'One of these.'),
    over: key(z.number(), 'A number above this.'),
    under: key(z.number(), 'A number below this.'),
    present: key(z.boolean(), 'Whether it is there at all.'),
  }),
]);
export type Matcher = z.infer<typeof matcher>;

export const policyRule = z.strictObject({
  tool: key(z.string().min(1), 'The name; `*` and `?` stand for characters.', { default: '*' }),
  when: key(
    z.record(z.string().min(1), matcher),
    'Of arguments, by their path, such as `to` or `items.0.price`. Of a list every item has to fit an `allow`, and any other rule if one does.',
    { otherwise: 'any' },
  ),
  effect: key(z.enum(EFFECTS), 'What the tool does to the world.', { otherwise: 'any' }),
  cost_over: key(z.number().min(0), 'US dollars that the run has cost so far; a cost that nobody knows is over.', {
    otherwise: 'any',
  }),
  then: requiredKey(z.enum(['allow', 'ask', 'deny']), '`allow`: this gate has nothing against it.'),
  reason: key(z.string().min(1), 'For whoever is asked or refused.', { otherwise: 'the action itself' }),
  remember: key(z.array(z.enum(STANDING_SCOPES)), 'Of `ask`: how far a yes may reach beyond the one action.', {
    otherwise: 'both',
  }),
  remember_by: key(
    z.array(z.string().min(1)),
    'Of `ask`: paths of arguments that a yes is bound to, such as the addressee.',
    { otherwise: 'none: a yes is to every action under this rule' },
  ),
});
export type PolicyRule = z.infer<typeof policyRule>;

/** What a rule looks at. */
export interface Facts {
  readonly tool: ToolDefinition;
  readonly arguments: Json;
}

/** Whether a rule is about an action, all but its cost. */
export function isAbout(rule: PolicyRule, { tool, arguments: given }: Facts): boolean {
  return (
    isOf(rule, tool) &&
    Object.entries(rule.when ?? {}).every(([path, wanted]) => fits(at(given, path), wanted, rule.then))
  );
}

/** Whether a rule may be about runs of a tool. */
export function isOf({ tool: name = '*', effect }: PolicyRule, tool: ToolDefinition): boolean {
  return matchesGlob(name, tool.name) && (effect === undefined || effect === tool.effect);
}

/** Which runs of its tools a rule is about: `amount is over 50 and to is "bo"`; undefined where it is every one. */
export function whenInWords({ when = {}, cost_over }: PolicyRule, written: Written): string | undefined {
  const parts = [
    ...Object.entries(when).map(([path, wanted]) => {
      const told: Told = (value, ...within) =>
        typeof value === 'string' ? written(['when', path, ...within], value) : value;
      return `${path} ${matcherInWords(wanted, told)}`;
    }),
    ...(cost_over === undefined ? [] : [`the run has cost more than $${cost_over}`]),
  ];
  return parts.length === 0 ? undefined : parts.join(' and ');
}

/** A value of a matcher as people may read it, by its keys from the matcher. */
type Told = (value: Plain, ...within: readonly (string | number)[]) => Plain;

function matcherInWords(wanted: Matcher, told: Told): string {
  if (typeof wanted !== 'object' || wanted === null) return `is ${JSON.stringify(told(wanted))}`;
  const { glob, one_of, over, under, present } = wanted;
  return [
    ...(present === undefined ? [] : [present ? 'is there' : 'is not there']),
    ...(glob === undefined ? [] : [`is like ${told(glob, 'glob')}`]),
    ...(one_of === undefined
      ? []
      : [`is one of ${one_of.map((one, index) => JSON.stringify(told(one, 'one_of', index))).join(', ')}`]),
    ...(over === undefined ? [] : [`is over ${over}`]),
    ...(under === undefined ? [] : [`is under ${under}`]),
  ].join(', ');
}

/** A rule that is about every action: nothing after it is ever reached. */
export function isAboutAll({ tool = '*', when = {}, effect, cost_over }: PolicyRule): boolean {
  return /^\*+$/.test(tool) && Object.keys(when).length === 0 && effect === undefined && cost_over === undefined;
}

/** The value at a path; undefined where there is none. What an object inherits is not there. */
export function at(value: Json, path: string): Json | undefined {
  let here: Json | undefined = value;
  for (const step of path.split('.')) {
    const items = listOf(here);
    if (items !== undefined) here = /^\d+$/.test(step) ? items[Number(step)] : undefined;
    else here = isObject(here) && Object.hasOwn(here, step) ? here[step] : undefined;
  }
  return here;
}

/** Of a list, an `allow` wants every item to fit; whoever asks or denies is content with one. */
function fits(value: Json | undefined, wanted: Matcher, then: PolicyRule['then']): boolean {
  const items = listOf(value);
  if (items === undefined) return fitsOne(value, wanted);
  return then === 'allow'
    ? items.length > 0 && items.every((one) => fitsOne(one, wanted))
    : items.some((one) => fitsOne(one, wanted));
}

function listOf(value: Json | undefined): readonly Json[] | undefined {
  return Array.isArray(value) ? (value as readonly Json[]) : undefined; // items of JSON are JSON
}

function fitsOne(value: Json | undefined, wanted: Matcher): boolean {
  if (typeof wanted !== 'object' || wanted === null) return isSame(value, wanted);
  const { glob, one_of, over, under, present } = wanted;
  if (present !== undefined && present !== (value !== undefined)) return false;
  if (glob !== undefined && !(typeof value === 'string' && matchesGlob(glob, value))) return false;
  if (one_of !== undefined && !one_of.some((one) => isSame(value, one))) return false;
  if (over !== undefined && !(typeof value === 'number' && value > over)) return false;
  return under === undefined || (typeof value === 'number' && value < under);
}

function isSame(value: Json | undefined, wanted: Json): boolean {
  return value !== undefined && canonicalJson(value) === canonicalJson(wanted);
}
