import { PLAN_GROUP, PLAN_UPDATE, planUpdate, stepsLeft, updatePlan, type PlanStep } from '../../domain/plan.ts';
import type { Turn } from '../../domain/conversation.ts';
import { defineTool, toolFailure, type BuiltinGroup } from '../../kernel/tool.ts';
import { hold } from '../../kernel/verdict.ts';

const update = defineTool({
  name: PLAN_UPDATE,
  description:
    'Keep the plan of this turn true. Mark a step doing before you begin it, and done, failed or skipped as soon as it is, ' +
    'with a note where the outcome is not plain. Where the rest of the plan does not fit any more, revise it: the steps ' +
    'that you give take the place of those that are open. The person watches the plan.',
  input: planUpdate,
  effect: 'idempotent',
  judge(given, { conversation: { turn } }) {
    // Who had to agree to the plan has to agree to another one.
    if (given.revise === undefined || turn?.requests.some((one) => one.kind === 'plan') !== true) return undefined;
    const updated = updatePlan(stepsOf(turn) ?? [], given);
    if (!updated.ok) return undefined; // the run says what is wrong
    return hold(`Go on with this plan instead?\n${updated.steps.map(line).join('\n')}`);
  },
  run(given, { conversation: { turn }, actionId }) {
    const steps = turn && stepsOf(turn);
    if (steps === undefined) return toolFailure('no_plan', 'This turn has no plan.');
    if (turn?.current?.actions.some(({ action }) => action.id === actionId) !== true)
      return toolFailure('not_inside', 'Only you keep the plan, and no program that you run: call it as a tool.');
    const updated = updatePlan(steps, given);
    if (!updated.ok) return toolFailure(updated.code, updated.why);
    return { plan: updated.steps.map(line), left: stepsLeft(updated.steps) };
  },
});

/** A plan as the model that follows it keeps it. Its state is in the log as the calls that went well, and nowhere else. */
export const planGroup: BuiltinGroup = { name: PLAN_GROUP, locked: true, tools: [update] };

function stepsOf({ plan, progress }: Turn): readonly PlanStep[] | undefined {
  if (typeof plan === 'string' || plan.error !== undefined) return undefined;
  return progress ?? plan.steps;
}

function line({ title, status }: PlanStep, index: number): string {
  return `${index + 1}. [${status ?? 'open'}] ${title}`;
}
