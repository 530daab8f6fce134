import type { PlanStep } from '../chat/plan-panel.tsx';

/** The plan after a change, with the steps that it drops where they would have come. */
export function planChange(before: readonly PlanStep[], after: readonly PlanStep[]): readonly PlanStep[] {
  const left = [...before];
  const steps = after.map((step): PlanStep => {
    const at = left.findIndex((one) => one.title === step.title && one.detail === step.detail);
    const [old] = at === -1 ? [] : left.splice(at, 1);
    if (old === undefined) return { ...step, change: 'new' };
    return old.status === step.status && old.note === step.note ? step : { ...step, change: 'marked' };
  });
  const dropped = left.map((step): PlanStep => ({ ...step, change: 'dropped' }));
  const firstNew = steps.findIndex((one) => one.change === 'new');
  return firstNew === -1 ? [...steps, ...dropped] : steps.toSpliced(firstNew, 0, ...dropped);
}
