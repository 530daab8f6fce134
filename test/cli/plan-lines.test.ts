import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import pc from 'picocolors';
import { changedPlan } from '../../src/cli/edit-plan.ts';
import { planLines } from '../../src/cli/plan-lines.ts';
import { TurnView } from '../../src/cli/turn-view.ts';
import { aHouse } from '../support/house.ts';
import { inside } from './inside.ts';

const plain = pc.createColors(false);
const BUNDLE = path.join(import.meta.dirname, '../golden/plan/bundle.yaml');

test('a plan that nobody has begun is a list, and one that is under way has marks', () => {
  const steps = [{ title: 'Look' }, { title: 'Leap' }];
  assert.deepEqual(planLines(steps, plain, 80), ['  1. Look', '  2. Leap']);
  assert.deepEqual(
    planLines([{ title: 'Look', status: 'done' }, { title: 'Leap', status: 'doing' }, { title: 'Land' }], plain, 80),
    ['  ✓ 1. Look', '  ▸ 2. Leap', '    3. Land'],
  );
});

test('the story of a run shows its plan as it stands, apart from the actions', async (t) => {
  const cwd = mkdtempSync(path.join(tmpdir(), 'treadle-plan-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  await inside(['run', BUNDLE, 'Bake a cake.'], { cwd });
  const { out } = await inside(['show', 'last'], { cwd });
  assert.match(
    out,
    /A cake\.\n {2}✓ 1\. Buy eggs\n {2}✗ 2\. Mix \(the bowl broke\)\n {2}✓ 3\. Borrow a bowl\n {2}⊘ 4\. Mix again\n/,
  );
});

for (const [line, wanted] of [
  ['2 Jump', ['Look', 'Jump', 'Land']],
  ['+ Rest', ['Look', 'Leap', 'Land', 'Rest']],
  ['+1 Think', ['Think', 'Look', 'Leap', 'Land']],
  ['-2', ['Look', 'Land']],
  ['3>1', ['Land', 'Look', 'Leap']],
  ['9 Jump', 'There is no step 9: the plan has 3.'],
  ['3>7', 'There is no step 7: the plan has 3.'],
] as const) {
  test(`typed at a plan, ${line} gives ${String(wanted)}`, () => {
    const changed = changedPlan([{ title: 'Look' }, { title: 'Leap' }, { title: 'Land' }], line);
    assert.deepEqual(typeof changed === 'string' ? changed : changed.map(({ title }) => title), wanted);
  });
}

for (const [approval, shown] of [
  ['never', 1],
  ['always', 0], // the question shows it
] as const) {
  test(`while it happens, a plan with approval ${approval} is shown ${shown} times beside the question`, async () => {
    const house = aHouse({
      agent: { planning: { approval, placement: 'announce' } },
      plugins: (bus) => void bus.answer('plan.request', () => ({ steps: [{ title: 'Buy eggs' }], source: 'test' })),
    });
    const lines: string[] = [];
    const write = (...given: readonly string[]): void => void lines.push(...given);
    const view = new TurnView({
      ...{ screen: { write, lines: write, status: () => undefined }, colors: plain, columns: () => 80 },
      onPhase: () => undefined,
    });
    await house.ask('go');
    for (const event of house.heard) view.hear(event);
    assert.equal(lines.join('\n').match(/Buy eggs/g)?.length ?? 0, shown);
  });
}
