// Runs below runs at the command line: driven with the run that began them, and asked about there.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import pc from 'picocolors';
import { openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import { systemClock } from '../../src/base/clock.ts';
import { runsPage } from '../../src/cli/chat-pages.ts';
import { LOG_FILE } from '../../src/platform/hosting/data-folder.ts';
import { inside } from './inside.ts';
import { workplace } from './treadle.ts';

const FAMILY = path.join(import.meta.dirname, 'fixtures/family.yaml');

test('a one-shot run drives the run below it and answers with its answer', async (t) => {
  const ran = await inside(['run', FAMILY, 'delegate greet'], { cwd: workplace(t) });
  assert.deepEqual([ran.code, ran.out], [0, 'The clerk: hello\n']);
});

test('a question from below is told with the run that asks, and answered by the name of either', async (t) => {
  for (const named of ['last', 'below'] as const) {
    const cwd = workplace(t);
    const file = path.join(cwd, 'effects');
    const lines = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
    const waiting = await inside(['run', FAMILY, `delegate write ${file}`], { cwd });
    assert.equal(waiting.code, 5);
    const [, below = ''] = /resume (run_\S+\.t1-1-1) --allow/.exec(waiting.err) ?? [];
    assert.notEqual(below, '', waiting.err);
    assert.match((await inside(['list'], { cwd })).out, / to answer /);
    const ran = await inside(['resume', named === 'last' ? 'last' : below, '--allow'], { cwd });
    assert.deepEqual([ran.code, lines()], [0, 'one\n']);
    const shown = await inside(['show', 'last'], { cwd });
    assert.match(shown.out, /The clerk: lines 1/);
    assert.equal((await inside(['list'], { cwd })).out.includes('.t1-1-1'), false);
  }
});

test('in a chat, too, a run whose run below asks is one to answer', async (t) => {
  const cwd = workplace(t);
  await inside(['run', FAMILY, `delegate write ${path.join(cwd, 'effects')}`], { cwd });
  const log = await openSqliteLog({ file: path.join(cwd, '.treadle', LOG_FILE), clock: systemClock });
  t.after(() => log.close());
  const lines = await runsPage(
    { list: async (query) => log.list({ limit: 10, ...query }) },
    { colors: pc.createColors(false), columns: () => 80 },
  );
  assert.match(lines.join('\n'), / to answer /);
});

test('with nobody to ask, a question from below is refused like any other', async (t) => {
  const cwd = workplace(t);
  const file = path.join(cwd, 'effects');
  const ran = await inside(['run', FAMILY, `delegate write ${file}`, '--on-approval', 'deny'], { cwd });
  assert.deepEqual([ran.code, existsSync(file)], [0, false]);
  assert.match(ran.out, /The clerk: lines/);
});

test('a time limit stops the run below too', async (t) => {
  const cwd = workplace(t);
  const ran = await inside(['run', FAMILY, 'delegate hang', '--timeout', '1s'], { cwd });
  assert.notEqual(ran.code, 0);
  const resumed = await inside(['resume', 'last', '--text', 'greet'], { cwd });
  assert.deepEqual([resumed.code, resumed.out], [0, 'hello\n']);
});
