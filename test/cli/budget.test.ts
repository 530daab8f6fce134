// Budgets and refusals without a server: a ceiling holds over all programs of a data folder, and what is refused leaves nothing.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createMemoryLog, createPlatform, systemClock } from '../../src/index.ts';
import { inside } from './inside.ts';
import { workplace } from './treadle.ts';

test('a ceiling of a day holds over one run after the other', async (t) => {
  const cwd = workplace(t);
  const bundle = path.join(cwd, 'poor.yaml');
  writeFileSync(
    bundle,
    `id: poor@1
models: { balanced: { provider: scripted, script: ./s.json, max_tokens: 100 } }
plugins:
  active: [gate.token_budget]
  gate.token_budget: { ceilings: [{ of: user, per: day, tokens: 3000 }] }
`,
  );
  writeFileSync(path.join(cwd, 's.json'), '[{ "text": "done", "usage": { "input": 2000, "output": 900 } }]');
  const env = { TREADLE_DATA: path.join(cwd, 'data') };
  assert.equal((await inside(['run', bundle, 'one'], { cwd, env })).code, 0);
  const second = await inside(['run', bundle, 'two'], { cwd, env });
  assert.notEqual(second.code, 0);
  assert.match(second.err, /budget|tokens/);
});

/** A bundle whose runs may spend 900 tokens. */
function tight(cwd: string): string {
  const bundle = path.join(cwd, 'tight.yaml');
  writeFileSync(
    bundle,
    `id: tight@1
models: { balanced: { provider: scripted, script: ./s.json, max_tokens: 100 } }
plugins:
  active: [gate.token_budget]
  gate.token_budget: { ceilings: [{ of: run, tokens: 900 }] }
`,
  );
  writeFileSync(path.join(cwd, 's.json'), '[{ "text": "done" }]');
  return bundle;
}

const LONG = 'word '.repeat(20_000);

for (const options of [[], ['--memory']]) {
  test(`a ceiling of a run refuses a message that is too long for it: run ${options.join(' ')}`, async (t) => {
    const cwd = workplace(t);
    const ran = await inside(['run', tight(cwd), LONG, ...options], { cwd });
    assert.match(ran.err, /the run's budget is 900 tokens/);
  });
}

test('a ceiling of a run holds in a program that keeps no ledger', async (t) => {
  const bundle = tight(workplace(t));
  const platform = await createPlatform({ bundle, environment: {}, log: createMemoryLog({ clock: systemClock }) });
  t.after(() => platform.close());
  const { id } = await platform.conversations.start();
  await platform.conversations.say(id, { text: LONG });
  const { turns } = await platform.conversations.drive(id);
  assert.equal(turns.at(-1)?.end?.error?.code, 'max_tokens');
});

test('a message that a gate refuses leaves no run behind', async (t) => {
  const cwd = workplace(t);
  const bundle = tight(cwd);
  writeFileSync(
    bundle,
    `id: strict@1
models: { balanced: { provider: scripted, script: ./s.json } }
plugins: { active: [gate.stop_words], gate.stop_words: { phrases: [secret] } }
`,
  );
  const ran = await inside(['run', bundle, 'the secret'], { cwd });
  const listed = await inside(['list', '--json'], { cwd });
  assert.deepEqual([ran.code, listed.out.includes('run_')], [4, false]);
});
