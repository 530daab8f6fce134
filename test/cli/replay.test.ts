import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { temporaryFolder } from '../stores/temporary.ts';
import { inside } from './inside.ts';
import type { Ran } from './treadle.ts';

const BUNDLE = `
id: sums
config: { react: { main: { max_iterations: 4, system_prompt: You work out sums. } } }
surfaces: { as_consumer: { agents: { main: { tools: [{ name: math, kind: module, module: builtin/math }] } } } }
models: { balanced: { provider: scripted, script: ./script.json } }
`;
const SCRIPT = [{ actions: [{ name: 'calculate', arguments: { expression: '1 + 1' } }] }, { text: 'It is 2.' }];

/** A folder with a bundle and one run of it. */
async function aRun(t: TestContext): Promise<string> {
  const cwd = temporaryFolder(t);
  writeFileSync(path.join(cwd, 'sums.yaml'), BUNDLE);
  writeFileSync(path.join(cwd, 'script.json'), JSON.stringify(SCRIPT));
  await inside(['run', 'sums.yaml', '1 + 1?'], { cwd });
  return cwd;
}

async function replayed(cwd: string, edit: (yaml: string) => string): Promise<Ran> {
  writeFileSync(path.join(cwd, 'new.yaml'), edit(BUNDLE));
  return inside(['replay', 'last', '--bundle', 'new.yaml'], { cwd });
}

test('a replay of a run that nobody edited says that nothing is different', async (t) => {
  const cwd = await aRun(t);
  const ran = await inside(['replay', 'last'], { cwd });
  assert.match(ran.out, /✓ Nothing is different: 2 model calls, 1 turn\./);
  assert.equal(ran.code, EXIT_CODES.completed.code);
});

test('a replay under a bundle that differs shows what does, and has an exit code of its own', async (t) => {
  const ran = await replayed(await aRun(t), (yaml) => yaml.replace('work out', 'guess'));
  assert.match(ran.out, /≠ 2 of 2 model calls/);
  assert.match(
    ran.out,
    /Call 1 turn 1, iteration 1\n {2}instructions: .*\n {4}- You work out sums\.\n {4}\+ You guess sums\./,
  );
  assert.match(ran.out, /Call 2.*\n.*\n {4}as in call 1/);
  assert.equal(ran.code, EXIT_CODES.different.code);
});

test('a limit that is lower is another end', async (t) => {
  const ran = await replayed(await aRun(t), (yaml) => yaml.replace('max_iterations: 4', 'max_iterations: 1'));
  assert.match(
    ran.out,
    /Ends\n {2}turn 1\n {4}- completed \(finished\)\n {4}- It is 2\.\n {4}\+ max_iterations_reached/,
  );
  assert.deepEqual(
    ran.out.split('\n').filter((line) => line.length > 80),
    [],
  );
});

test('a replay as JSON is one line', async (t) => {
  const ran = await inside(['replay', 'last', '--json', '--up-to', '1'], { cwd: await aRun(t) });
  const report = JSON.parse(ran.out) as { same: boolean; calls: unknown[] };
  assert.deepEqual([report.same, report.calls.length], [true, 1]);
});

test('a bundle that cannot be read is a mistake of the command line', async (t) => {
  const ran = await inside(['replay', 'last', '--bundle', 'none.yaml'], { cwd: await aRun(t) });
  assert.equal(ran.code, EXIT_CODES.usage.code);
  assert.match(ran.err, /none\.yaml/);
});
