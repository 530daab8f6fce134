import { z } from 'zod';
import type { Json } from '../base/json.ts';
import type { FactPayload } from './event.ts';

/** The group of the tool that keeps a plan: there with planning, and locked like every system group. */
export const PLAN_GROUP = 'plan';

/** Under the name of its group where another group has a tool of this name, too. */
export const PLAN_UPDATE = 'plan_update';
const NAMES: ReadonlySet<string> = new Set([PLAN_UPDATE, `${PLAN_GROUP}_${PLAN_UPDATE}`]);

export const MOST_STEPS = 50;

const title = z.string().trim().min(1).max(300);
const detail = z.string().trim().min(1).max(1_000).optional();

/** What `plan_update` takes. */
export const planUpdate = z.strictObject({
  steps: z
    .array(
      z.strictObject({
        step: z.int().min(1).describe('Its number in the plan.'),
        status: z.enum(['doing', 'done', 'failed', 'skipped']),
        note: z.string().trim().min(1).max(500).optional().describe('What came of it, or why not, in a sentence.'),
      }),
    )
    .max(MOST_STEPS)
    .default([])
    .describe('Steps whose state changed.'),
  revise: z
    .array(z.strictObject({ title: title.describe('What is done, in a few words.'), detail }))
    .max(MOST_STEPS)
    .optional()
    .describe('The steps that are still to be done, in order. They take the place of all that are open after `steps`.'),
});
export type PlanUpdate = z.output<typeof planUpdate>;

/** What a person makes of a plan that they are asked about: all of its steps, in order. */
export const planEdit = z.strictObject({
  steps: z.array(z.strictObject({ title, detail })).min(1).max(MOST_STEPS),
});

/** The steps as a person wrote them; undefined where these are none. */
export function editedSteps(given: Json | undefined): readonly PlanStep[] | undefined {
  const edit = planEdit.safeParse(given);
  return edit.success ? edit.data.steps.map(inOneLine) : undefined;
}

/** A step of a plan as it stands. Open while it has no status. */
export type PlanStep = FactPayload<'plan.result'>['steps'][number] & Partial<Omit<PlanUpdate['steps'][number], 'step'>>;

/** Open steps of the plan, and those begun. */
export function stepsLeft(steps: readonly PlanStep[]): number {
  return steps.filter(({ status }) => status === undefined || status === 'doing').length;
}

export type Updated =
  | { readonly ok: true; readonly steps: readonly PlanStep[] }
  | { readonly ok: false; readonly code: string; readonly why: string };

/** The plan after an update: all of it, or nothing where part of it does not fit. */
export function updatePlan(before: readonly PlanStep[], { steps: marks, revise }: PlanUpdate): Updated {
  if (marks.length === 0 && revise === undefined)
    return { ok: false, code: 'nothing_to_update', why: 'Say which steps changed, or how the plan is revised.' };
  const steps = [...before];
  for (const { step, status, note } of marks) {
    const marked = steps[step - 1];
    if (marked === undefined) {
      const why = `There is no step ${step}: the plan has ${before.length}, numbered from 1.`;
      return { ok: false, code: 'unknown_step', why };
    }
    const { note: _, ...rest } = marked; // what was said of an earlier state
    steps[step - 1] = { ...rest, status, ...(note !== undefined && { note: oneLine(note) }) };
  }
  if (revise === undefined) return { ok: true, steps };
  const revised = [...steps.filter(({ status }) => status !== undefined), ...revise.map(inOneLine)];
  if (revised.length <= MOST_STEPS) return { ok: true, steps: revised };
  return {
    ok: false,
    code: 'too_many_steps',
    why: `The plan would have ${revised.length} steps, more than ${MOST_STEPS}.`,
  };
}

function inOneLine({ title, detail }: PlanStep): PlanStep {
  return { title: oneLine(title), ...(detail !== undefined && { detail: oneLine(detail) }) };
}

/** A line of the plan is one: none can look like the next, or like another block of the prompt. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').toWellFormed();
}

/** The steps after an action that went well; undefined where it is none that keeps a plan. */
export function stepsAfter(before: readonly PlanStep[], name: string, given: Json): readonly PlanStep[] | undefined {
  if (!NAMES.has(name)) return undefined;
  const update = planUpdate.safeParse(given);
  if (!update.success) return undefined;
  const updated = updatePlan(before, update.data);
  return updated.ok ? updated.steps : undefined;
}

/** True for an action that keeps the plan: its outcome is what the plan shows. */
export function keepsPlan(name: string): boolean {
  return NAMES.has(name);
}
