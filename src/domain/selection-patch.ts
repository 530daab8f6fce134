import { z } from 'zod';
import { cachePolicy, GROUP_KINDS, type GroupKind, type Selection } from './selection.ts';

/** `true`: all of the group is off. Names: exactly these are off. `false`, nothing or no names: it is on again. */
const toggle = z.union([z.boolean(), z.null(), z.array(z.string().min(1).max(200)).max(1_000)]);
const toggles = z.record(z.string().min(1).max(200), toggle);

/** What a user changes of a selection: only what is named. */
export const selectionPatch = z.strictObject({
  disabled: z
    .strictObject({
      tools: toggles.optional(),
      mcp: toggles.optional(),
      named_services: toggles.optional(),
      /** A list replaces what was there; a mapping switches one by one. */
      skills: z.union([z.array(z.string()).max(1_000), z.record(z.string(), z.boolean())]).optional(),
    })
    .optional(),
  /** `null`: the configured model again. */
  model: z
    .strictObject({ provider: z.string().min(1), model: z.string().min(1) })
    .nullable()
    .optional(),
  /** `null`: the operator's defaults again. */
  cache_policy: z
    .strictObject({ model_switch: cachePolicy, capability_toggle: cachePolicy })
    .partial()
    .nullable()
    .optional(),
});
export type SelectionPatch = z.infer<typeof selectionPatch>;
type Toggles = z.infer<typeof toggles>;

/**
 * A selection after a change. What the change does not name stays as it is.
 *
 * Pure and total, so that a page can show what a save would do: the server does the same.
 */
export function mergeSelection(selection: Selection, patch: SelectionPatch): Selection {
  const { disabled = {}, model, cache_policy } = patch;
  const merged: Selection = {
    schema_version: 1,
    disabled: {
      ...selection.disabled,
      ...Object.fromEntries(GROUP_KINDS.map((kind) => [kind, mergeGroups(selection.disabled[kind], disabled[kind])])),
      skills: mergeSkills(selection.disabled.skills, disabled.skills),
    },
  };
  const pick = model === undefined ? selection.model : model;
  if (pick !== undefined && pick !== null) merged.model = pick;
  const policy = cache_policy === undefined ? selection.cache_policy : { ...selection.cache_policy, ...cache_policy };
  if (policy !== undefined && cache_policy !== null && Object.keys(policy).length > 0) merged.cache_policy = policy;
  return merged;
}

/** One change that does what the two do one after the other. */
export function joinPatches(first: SelectionPatch, second: SelectionPatch): SelectionPatch {
  const disabled: NonNullable<SelectionPatch['disabled']> = {};
  for (const kind of GROUP_KINDS) {
    const joined = own({ ...first.disabled?.[kind], ...second.disabled?.[kind] });
    if (joined !== undefined) disabled[kind] = joined;
  }
  const skills = joinSkills(first.disabled?.skills, second.disabled?.skills);
  if (skills !== undefined) disabled.skills = skills;
  const model = second.model === undefined ? first.model : second.model;
  const policy = second.cache_policy === undefined ? first.cache_policy : second.cache_policy;
  return {
    ...(Object.keys(disabled).length === 0 ? {} : { disabled }),
    ...(model === undefined ? {} : { model }),
    ...(policy === undefined ? {} : { cache_policy: policy }),
  };
}

/** What is left of an earlier change once a later one has spoken: the later word counts, key by key. */
export function withoutNamed(patch: SelectionPatch, later: SelectionPatch): SelectionPatch {
  const disabled: NonNullable<SelectionPatch['disabled']> = {};
  for (const kind of GROUP_KINDS) {
    const named = later.disabled?.[kind] ?? {};
    const left = own(
      Object.fromEntries(Object.entries(patch.disabled?.[kind] ?? {}).filter(([name]) => !Object.hasOwn(named, name))),
    );
    if (left !== undefined) disabled[kind] = left;
  }
  if (patch.disabled?.skills !== undefined && !Array.isArray(later.disabled?.skills)) {
    const named = later.disabled?.skills ?? {};
    const { skills } = patch.disabled;
    const kept = Array.isArray(skills)
      ? skills.filter((id) => !Object.hasOwn(named, id))
      : own(Object.fromEntries(Object.entries(skills).filter(([id]) => !Object.hasOwn(named, id))));
    if (kept !== undefined) disabled.skills = kept;
  }
  return {
    ...(Object.keys(disabled).length === 0 ? {} : { disabled }),
    ...(patch.model === undefined || later.model !== undefined ? {} : { model: patch.model }),
  };
}

export function isEmptyPatch({ disabled = {}, model, cache_policy }: SelectionPatch): boolean {
  const isSaid = Object.values(disabled).some(
    (entry) => entry !== undefined && (Array.isArray(entry) || Object.keys(entry).length > 0),
  );
  return !isSaid && model === undefined && cache_policy === undefined;
}

/** True when nothing is switched off and nothing is picked. */
export function isPlain({ disabled, model }: Selection): boolean {
  return model === undefined && Object.values(disabled).every((entry) => Object.keys(entry).length === 0);
}

/** The change that leads from nothing to a selection. */
export function patchOf({ disabled, model }: Selection): SelectionPatch {
  return { disabled: { ...disabled }, ...(model === undefined ? {} : { model }) };
}

function mergeGroups(before: Selection['disabled'][GroupKind], patch: Toggles | undefined): typeof before {
  if (patch === undefined) return before;
  const entries = Object.entries(before).filter(([name]) => !Object.hasOwn(patch, name));
  for (const [name, said] of Object.entries(patch)) {
    if (said === true) entries.push([name, true]);
    else if (Array.isArray(said) && said.length > 0) entries.push([name, [...new Set(said)].sort()]);
  }
  // In the order of their names, so that the same choices are the same record.
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}

function mergeSkills(
  before: readonly string[],
  patch: NonNullable<SelectionPatch['disabled']>['skills'],
): Selection['disabled']['skills'] {
  if (patch === undefined) return [...before];
  if (Array.isArray(patch)) return [...new Set(patch)].sort();
  const off = new Set(before);
  for (const [id, isOff] of Object.entries(patch)) {
    if (isOff) off.add(id);
    else off.delete(id);
  }
  return [...off].sort();
}

type SkillPatch = NonNullable<SelectionPatch['disabled']>['skills'];

function joinSkills(first: SkillPatch, second: SkillPatch): SkillPatch {
  if (second === undefined || first === undefined || Array.isArray(second)) return second ?? first;
  return Array.isArray(first) ? mergeSkills(first, second) : own({ ...first, ...second });
}

/** The mapping, unless it says nothing. */
function own<T>(mapping: Record<string, T>): Record<string, T> | undefined {
  return Object.keys(mapping).length === 0 ? undefined : mapping;
}
