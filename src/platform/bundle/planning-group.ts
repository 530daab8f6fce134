import { asksForPlan } from '../../assembly/frame.ts';
import { behaviourLevels, resolve } from '../../assembly/resolve.ts';
import type { Bundle } from '../../domain/bundle.ts';
import { PLAN_GROUP } from '../../domain/plan.ts';
import { planGroup } from '../../plugins/tools/plan.ts';
import type { ImpliedGroup } from '../grant/grant.ts';
import { builtin } from '../grant/tool-groups.ts';

const PLAN: ImpliedGroup = {
  entry: { kind: 'module', name: PLAN_GROUP, module: `builtin/${PLAN_GROUP}` },
  group: builtin(planGroup),
};

/** The tool that keeps a plan, for an agent that makes one. */
export function planningGroup(bundle: Bundle, agent: string): readonly ImpliedGroup[] {
  return asksForPlan(resolve(behaviourLevels(bundle, agent), 'planning')?.value) ? [PLAN] : [];
}
