import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { temporaryFolder } from '../stores/temporary.ts';
import { inside } from './inside.ts';

const BUNDLE = `
id: sums
surfaces: { as_consumer: { agents: { main: { tools: [{ name: math, kind: module, module: builtin/math }] } } } }
models: { balanced: { provider: scripted, script: ./script.json } }
`;
const SCRIPT = [{ actions: [{ name: 'calculate', arguments: { expression: '1 + 1' } }] }, { text: 'It is 2.' }];

/** A folder with a bundle and one run of it. */
async function aRun(t: TestContext): Promise<string> {
  const cwd = temporaryFolder(t);
  writeFileSync(path.join(cwd, 'sums.yaml'), BUNDLE);
  writeFileSync(path.join(cwd, 'script.json'), JSON.stringify(SCRIPT));
  await inside(['run', path.join(cwd, 'sums.yaml'), '1 + 1?'], { cwd });
  return cwd;
}

test('a run that is made a case holds, and its suite is read again', async (t) => {
  const cwd = await aRun(t);
  const suite = path.join(cwd, 'suite.yaml');
  const promoted = await inside(['eval', 'promote', 'last', '--to', suite, '--scripted'], { cwd });
  assert.equal(promoted.code, 0, promoted.err);
  assert.match(readFileSync(suite, 'utf8'), /called:\n {8}- tool: calculate/);
  const ran = await inside(['eval', suite], { cwd });
  assert.match(ran.out, /1 of 1 case hold/);
  assert.equal(ran.code, 0);
  const again = await inside(['eval', 'promote', 'last', '--to', suite, '--as', 'another'], { cwd });
  assert.equal(again.code, 0, again.err);
  assert.match((await inside(['eval', suite], { cwd })).out, /2 of 2 cases hold/);
});

test('a case that does not hold says why, and is an exit code and a report', async (t) => {
  const cwd = await aRun(t);
  const suite = path.join(cwd, 'suite.yaml');
  writeFileSync(suite, 'bundle: sums.yaml\ncases: [{ name: sum, input: 1 + 1?, expect: { answer: "3" } }]\n');
  const junit = path.join(cwd, 'junit.xml');
  const ran = await inside(['eval', suite, '--junit', junit], { cwd });
  assert.equal(ran.code, EXIT_CODES.different.code);
  assert.match(ran.err, /✗ sum.*\n {4}The answer has no "3": It is 2\./);
  assert.match(readFileSync(junit, 'utf8'), /failures="1"/);
});

test('a suite that is wrong, or not there, is a mistake of the command line', async (t) => {
  const cwd = temporaryFolder(t);
  const suite = path.join(cwd, 'suite.yaml');
  writeFileSync(suite, 'bundle: sums.yaml\ncases: []\n');
  const wrong = await inside(['eval', suite], { cwd });
  assert.deepEqual([wrong.code, /suite\.yaml:2:8/.test(wrong.err)], [EXIT_CODES.usage.code, true]);
  assert.equal((await inside(['eval', path.join(cwd, 'none.yaml')], { cwd })).code, EXIT_CODES.usage.code);
});
