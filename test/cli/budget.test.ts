// Ceilings of a day without a server: they hold over all programs of a data folder.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
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
