import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import pc from 'picocolors';
import { planLines } from '../../src/cli/plan-lines.ts';
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
