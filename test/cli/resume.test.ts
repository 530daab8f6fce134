// Going on with a run: after an approval, a question, a stop, and a process that was killed.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import { systemClock } from '../../src/base/clock.ts';
import { inside } from './inside.ts';
import { OUTCOMES, ended, start, summaryOf, treadle, until, workplace } from './treadle.ts';

/** A run that waits for the approval of one line in one file. */
async function waiting(t: { after(undo: () => void): void }) {
  const cwd = workplace(t);
  const file = path.join(cwd, 'effects');
  const { code } = await inside(['run', OUTCOMES, `write ${file}`], { cwd });
  assert.equal(code, 5);
  return { cwd, lines: () => (existsSync(file) ? readFileSync(file, 'utf8') : '') };
}

describe('treadle resume', { concurrency: 2 }, () => {
  it('lets an approved action happen exactly once', async (t) => {
    const { cwd, lines } = await waiting(t);
    const ran = await inside(['resume', 'last', '--allow', 't1-1-1-a1'], { cwd });
    assert.deepEqual([ran.code, ran.out, lines()], [0, 'The tool said: 1\n', 'one\n']);
    const again = await inside(['resume', 'last', '--allow', 't1-1-1-a1'], { cwd });
    assert.deepEqual([again.code, lines()], [2, 'one\n']);
  });

  it('needs no name of the request where only one is open', async (t) => {
    const { cwd, lines } = await waiting(t);
    assert.equal((await inside(['resume', 'last', '--allow'], { cwd })).code, 0);
    assert.equal(lines(), 'one\n');
  });

  it('asks for the bundle of a run that a server began', async (t) => {
    const cwd = workplace(t);
    mkdirSync(path.join(cwd, 'data'));
    const log = await openSqliteLog({ file: path.join(cwd, 'data', 'treadle.db'), clock: systemClock });
    const whose = { agent: 'main', agentPath: 'main', userId: 'ana', tenant: 'local' };
    await log.create({ id: 'run_served', bundle: 'shop@1', ...whose, createdAt: 0 });
    await log.close();
    const ran = await inside(['resume', 'run_served', '--data', 'data'], { cwd });
    assert.equal(ran.code, 2);
    assert.match(ran.err, /resume run_served --bundle FILE/);
  });

  it('tells the agent why an action was refused', async (t) => {
    const { cwd, lines } = await waiting(t);
    const ran = await inside(['resume', 'last', '--reject', '--note', 'wrong file'], { cwd });
    assert.deepEqual([ran.code, lines()], [0, '']);
    assert.match(ran.out, /refused this action: wrong file/);
  });

  it('runs an action with other arguments, once they fit', async (t) => {
    const { cwd, lines } = await waiting(t);
    const edit = (json: string) => inside(['resume', 'last', '--edit', json], { cwd });
    assert.equal((await edit('{"file":')).code, 2);
    const misfit = await edit('{"file": 7}');
    assert.equal(misfit.code, 2);
    assert.match(misfit.err, /answer_invalid/);
    assert.equal((await edit(JSON.stringify({ file: path.join(cwd, 'effects'), line: 'two' }))).code, 0);
    assert.equal(lines(), 'two\n');
  });

  it('writes neither of two answers to one request', async (t) => {
    const { cwd, lines } = await waiting(t);
    const [rejected, edited, named] = await Promise.all([
      inside(['resume', 'last', '--allow', '--reject'], { cwd }),
      inside(['resume', 'last', '--allow', '--edit', '{}'], { cwd }),
      inside(['resume', 'last', '--allow', 't1-1-1-a1', '--reject', '--note', 'no'], { cwd }),
    ]);
    assert.deepEqual([rejected.code, edited.code, named.code], [2, 2, 2]);
    assert.match(rejected.err, /--allow and --reject/);
    assert.deepEqual([(await inside(['resume', 'last'], { cwd })).code, lines()], [5, '']);
  });

  it('still waits, with exit code 5, where no answer is given', async (t) => {
    const { cwd, lines } = await waiting(t);
    assert.deepEqual([(await inside(['resume', 'last'], { cwd })).code, lines()], [5, '']);
  });

  it('answers a question with the number of a choice', async (t) => {
    const cwd = workplace(t);
    assert.equal((await inside(['run', OUTCOMES, 'colour'], { cwd })).code, 5);
    const slip = await inside(['resume', 'last', '--reply', '3'], { cwd });
    assert.equal(slip.code, 2);
    assert.match(slip.err, /from 1 to 2/);
    const ran = await inside(['resume', 'last', '--reply', '2'], { cwd });
    assert.deepEqual([ran.code, ran.out], [0, 'You like blue.\n']);
  });

  it('refuses to go on with a run that has come to its end, and says something else to it', async (t) => {
    const cwd = workplace(t);
    await inside(['run', OUTCOMES, 'hello'], { cwd });
    assert.equal((await inside(['resume', 'last'], { cwd })).code, 2);
    assert.equal((await inside(['resume', 'last', '--text', 'again'], { cwd })).out, 'You said: again\n');
  });

  it('goes on after kill -9 in the middle of an action, without doing it a second time', async (t) => {
    const cwd = workplace(t);
    const file = path.join(cwd, 'effects');
    const child = start(['run', OUTCOMES, `slowly ${file}`], { cwd });
    const end = ended(child);
    await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
    child.kill('SIGKILL');
    await end;
    // It waits for the dead worker's lease to run out.
    const ran = await treadle(['resume', 'last', '--json'], { cwd });
    assert.deepEqual([ran.code, summaryOf(ran)['status']], [0, 'completed']);
    assert.match(String(summaryOf(ran)['answer']), /may or may not have happened/);
    assert.equal(readFileSync(file, 'utf8'), 'begun\n');
  });

  it('leaves a run alone that another process drives, and keeps a message to it', async (t) => {
    const cwd = workplace(t);
    const file = path.join(cwd, 'effects');
    const driver = start(['run', OUTCOMES, `slowly ${file}`], { cwd });
    t.after(() => driver.kill('SIGKILL'));
    await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
    const [timed, pressed, said] = await Promise.all([
      treadle(['resume', 'last', '--timeout', '1s'], { cwd }),
      (async () => {
        const child = start(['resume', 'last'], { cwd });
        const end = ended(child);
        child.stderr?.once('data', () => child.kill('SIGINT'));
        return end;
      })(),
      treadle(['run', OUTCOMES, 'more', '--conversation', 'last', '--timeout', '1s'], { cwd }),
    ]);
    assert.deepEqual([timed.code, pressed.code, said.code], [124, 130, 124]);
    assert.match(timed.err, /^waiting for the process that has it\n[^]*another process has the run/);
    assert.match(said.err, /another process has the run/);
    const log = (await treadle(['show', 'last', '--log'], { cwd })).out;
    assert.doesNotMatch(log, /cancel\./);
    assert.match(log, /"more"/);
  });

  it('finishes a stop that was left half done, and goes on', async (t) => {
    const cwd = workplace(t);
    const file = path.join(cwd, 'effects');
    const child = start(['run', OUTCOMES, `slowly ${file}`], { cwd });
    const end = ended(child);
    await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
    child.kill('SIGINT');
    setTimeout(() => child.kill('SIGINT'), 2);
    assert.equal((await end).code, 130);
    const ran = await treadle(['resume', 'last'], { cwd });
    assert.equal(ran.code, 0, ran.err);
    assert.match(ran.out, /^Then: /);
  });

  it('says so when it cannot tell which run is meant', async (t) => {
    const cwd = workplace(t);
    assert.match((await inside(['resume', 'last'], { cwd })).err, / chat/);
    await Promise.all([treadle(['run', OUTCOMES, 'one'], { cwd }), inside(['run', OUTCOMES, 'two'], { cwd })]);
    const ran = await inside(['resume', 'run_'], { cwd });
    assert.equal(ran.code, 2);
    assert.match(ran.err, /the beginning of several runs/);
  });
});
