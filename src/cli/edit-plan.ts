import { MOST_STEPS, type PlanStep } from '../domain/plan.ts';
import type { Person } from './person.ts';
import { planLines } from './plan-lines.ts';
import { harmless, wrap } from './text.ts';

const HOW =
  'N new words rewords a step · + words adds one, +N words before step N · -N drops one · N>M moves one · Enter goes on with it · q goes back';

/** Has a person change the steps of a plan, line by line. `unchanged` for a change of mind, undefined when they leave. */
export async function editPlan(
  before: readonly PlanStep[],
  person: Person,
): Promise<readonly PlanStep[] | 'unchanged' | undefined> {
  const { screen, colors, columns } = person;
  const say = (text: string): void => {
    const lines = wrap(harmless(text), { columns: columns(), first: '  ', rest: '  ' });
    screen.lines(...lines.map((line) => colors.dim(line)));
  };
  say(HOW);
  let steps = before;
  for (;;) {
    const typed = await person.ask(`  ${colors.yellow('plan')} ${colors.dim(`[${steps.length} steps]`)} `);
    if (typed === undefined) return undefined;
    const line = typed.trim();
    if (line === 'q') return 'unchanged';
    if (line === '') return steps === before ? 'unchanged' : steps;
    const changed = changedPlan(steps, line);
    if (typeof changed === 'string') say(changed);
    else {
      steps = changed;
      screen.lines(...planLines(steps, colors, columns()));
    }
  }
}

/** The steps after one line of a person, or what is wrong with it. */
export function changedPlan(steps: readonly PlanStep[], line: string): readonly PlanStep[] | string {
  const moved = /^(\d+)\s*>\s*(\d+)$/.exec(line);
  if (moved !== null) {
    const [from, to] = [Number(moved[1]), Number(moved[2])];
    const step = steps[from - 1];
    if (step === undefined || steps[to - 1] === undefined) return noStep(step === undefined ? from : to, steps);
    return steps.toSpliced(from - 1, 1).toSpliced(to - 1, 0, step);
  }
  const dropped = /^-\s*(\d+)$/.exec(line);
  if (dropped !== null) {
    const number = Number(dropped[1]);
    if (steps[number - 1] === undefined) return noStep(number, steps);
    if (steps.length === 1) return 'A plan has a step at least: answer n to reject it.';
    return steps.toSpliced(number - 1, 1);
  }
  const added = /^\+(\d*)\s+(.+)$/.exec(line);
  if (added !== null) {
    const number = added[1] === '' ? steps.length + 1 : Number(added[1]);
    if (number < 1 || number > steps.length + 1) return noStep(number, steps);
    if (steps.length >= MOST_STEPS) return `A plan has at most ${MOST_STEPS} steps.`;
    return steps.toSpliced(number - 1, 0, { title: added[2] ?? '' });
  }
  const reworded = /^(\d+)[.:]?\s+(.+)$/.exec(line);
  if (reworded === null) return HOW;
  const number = Number(reworded[1]);
  if (steps[number - 1] === undefined) return noStep(number, steps);
  return steps.with(number - 1, { title: reworded[2] ?? '' }); // what was said in detail was said of other words
}

function noStep(number: number, steps: readonly PlanStep[]): string {
  return `There is no step ${number}: the plan has ${steps.length}.`;
}
