// A plan as its model keeps it: what an update makes of the steps, and what it leaves as it was.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MOST_STEPS, planUpdate, updatePlan, type PlanStep } from '../../src/domain/plan.ts';

const three: readonly PlanStep[] = [{ title: 'a' }, { title: 'b', detail: 'how' }, { title: 'c' }];

/** `a✓ b` and so on, or the code of the refusal. */
function after(before: readonly PlanStep[], update: object): string {
  const updated = updatePlan(before, planUpdate.parse(update));
  return updated.ok ? shown(updated.steps) : updated.code;
}

function shown(steps: readonly PlanStep[]): string {
  return steps
    .map(({ title, status, note }) => [title, ...(status ? [status] : []), ...(note ? [note] : [])].join(':'))
    .join(' ');
}

const mark = (step: number, status: string, note?: string) => ({ step, status, ...(note !== undefined && { note }) });

for (const [what, update, want] of [
  ['marks a step', { steps: [mark(2, 'done', 'well')] }, 'a b:done:well c'],
  ['marks several', { steps: [mark(1, 'failed'), mark(3, 'skipped')] }, 'a:failed b c:skipped'],
  ['lets the later mark of a step count', { steps: [mark(1, 'doing', 'now'), mark(1, 'done')] }, 'a:done b c'],
  ['puts other steps in the place of the open ones', { revise: [{ title: 'x' }, { title: 'y' }] }, 'x y'],
  ['keeps what is done and begun', { steps: [mark(1, 'done'), mark(3, 'doing')], revise: [] }, 'a:done c:doing'],
  [
    'writes a step in one line',
    { steps: [mark(1, 'done', 'x\n[y]')], revise: [{ title: 'd\n2. e' }] },
    'a:done:x [y] d 2. e',
  ],
  ['refuses all where one number is unknown', { steps: [mark(1, 'done'), mark(4, 'done')] }, 'unknown_step'],
  ['refuses to do nothing', {}, 'nothing_to_update'],
  [
    'refuses a plan that grows too long',
    { steps: [mark(1, 'done')], revise: Array.from({ length: MOST_STEPS }, () => ({ title: 'x' })) },
    'too_many_steps',
  ],
] as const) {
  test(`an update ${what}`, () => assert.equal(after(three, update), want));
}

test('whatever is marked and revised, no step that was begun or ended is lost, and their order stays', () => {
  const status = fc.constantFrom('doing' as const, 'done' as const, 'failed' as const, 'skipped' as const);
  const step = fc.record({ step: fc.integer({ min: 1, max: 8 }), status });
  const revise = fc.array(fc.record({ title: fc.constantFrom('x', 'y') }), { maxLength: 5 });
  const update = fc.record({ steps: fc.array(step, { maxLength: 4 }), revise: fc.option(revise, { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(update, { maxLength: 12 }), (updates) => {
      let steps = three;
      for (const one of updates) {
        const marked = steps.filter((it) => it.status !== undefined).map(({ title }) => title);
        const updated = updatePlan(steps, planUpdate.parse(one));
        if (!updated.ok) continue;
        const now = updated.steps.filter((it) => it.status !== undefined).map(({ title }) => title);
        let rest = now;
        for (const title of marked) {
          assert.ok(rest.includes(title));
          rest = rest.slice(rest.indexOf(title) + 1);
        }
        assert.ok(updated.steps.length <= MOST_STEPS);
        steps = updated.steps;
      }
    }),
  );
});
