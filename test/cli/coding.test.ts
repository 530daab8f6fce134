// The programmer that ships does a real small task in a real repository, and asks before it changes anything.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { systemShell } from '../../src/adapters/shell/shell.ts';
import { summaryOf, treadle, workplace } from './treadle.ts';

const CODING = path.join(import.meta.dirname, '../../agents/coding.yaml');
const TASK = 'The tests fail: `a - b` should be `a + b`. Mend it.';

interface Ending {
  after(undo: () => void): void;
}

/** A repository with a mistake in it, and a test that finds it. */
function aRepository(t: Ending): string {
  const cwd = workplace(t);
  const files = {
    'package.json': '{ "type": "module" }\n',
    'sum.js': 'export function sum(a, b) {\n  return a - b;\n}\n',
    'sum.test.js':
      "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { sum } from './sum.js';\n\n" +
      "test('sums', () => assert.equal(sum(1, 2), 3));\n",
    '.env': 'KEY=sesame\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(cwd, name), text);
  return cwd;
}

/** Runs the repository's own tests, as somebody else would. */
function passes(cwd: string): boolean {
  const env = { PATH: process.env['PATH'] ?? '' };
  return spawnSync(process.execPath, ['--test'], { cwd, env }).status === 0;
}

const { on: isKept } = await systemShell.sandbox();

/** What is asked once it is about this tool: without a sandbox a person is asked about commands, too. */
async function askedAbout(cwd: string, tool: string): Promise<string> {
  for (let asked = 0; asked < 5; asked++) {
    const { err } = await treadle(['resume', 'last'], { cwd });
    if (err.includes(`${tool} wants to run`)) return err;
    await treadle(['resume', 'last', '--allow'], { cwd });
  }
  return assert.fail(`${tool} was never asked about`);
}

test('a repository ends up changed and its tests pass, after a person has seen the change', async (t) => {
  const cwd = aRepository(t);
  assert.equal(passes(cwd), false);
  const begun = await treadle(['run', CODING, TASK, '--json'], { cwd });
  assert.deepEqual([begun.code, summaryOf(begun)['status']], [5, 'pending_action_approval']);
  const asked = await askedAbout(cwd, 'files_edit');
  assert.match(asked, /-\s+return a - b;\n.*\+\s+return a \+ b;/);
  assert.equal(readFileSync(path.join(cwd, 'sum.js'), 'utf8').includes('a - b'), true, 'nothing has changed yet');
  let ran = await treadle(['resume', 'last', '--allow', '--json'], { cwd });
  if (!isKept) ran = await treadle(['resume', 'last', '--allow', '--json'], { cwd });
  assert.deepEqual(
    [ran.code, summaryOf(ran)['answer']],
    [0, 'sum.js: `a - b` is `a + b` now. The tests failed before; they pass now.'],
  );
  assert.equal(readFileSync(path.join(cwd, 'sum.js'), 'utf8'), 'export function sum(a, b) {\n  return a + b;\n}\n');
  assert.equal(passes(cwd), true);
});

test('a change that is refused is not made', async (t) => {
  const cwd = aRepository(t);
  await treadle(['run', CODING, TASK], { cwd });
  await askedAbout(cwd, 'files_edit');
  const ran = await treadle(['resume', 'last', '--reject', '--note', 'not this file'], { cwd });
  assert.match(ran.out, /I stopped: The user refused this action: not this file/);
  assert.equal(readFileSync(path.join(cwd, 'sum.js'), 'utf8').includes('a - b'), true);
});

test('what holds keys is neither listed nor found', async (t) => {
  const cwd = aRepository(t);
  const listed = await treadle(['run', CODING, 'What is in here?'], { cwd });
  assert.equal(listed.out, 'package.json\nsum.js\nsum.test.js\n');
  const found = await treadle(['run', CODING, 'Where is `sesame`?'], { cwd });
  assert.equal(found.out, 'There is nothing like that.\n');
});
