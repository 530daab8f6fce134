// The commands that speak to a server, against a real one.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { widthOf } from '../../src/cli/text.ts';
import { writeServerFile } from '../../src/platform/hosting/server-file.ts';
import { aServer, linesFile, type Served } from '../http/server.ts';
import { inside } from './inside.ts';
import { workplace, type Ran } from './treadle.ts';

type Test = Parameters<typeof linesFile>[0];

/** A working directory whose data folder is served. */
async function aPlace(t: Test): Promise<{
  server: Served;
  runs: (...args: readonly string[]) => Promise<Ran>;
  allowances: (...args: readonly string[]) => Promise<Ran>;
}> {
  const server = await aServer(t);
  const cwd = workplace(t);
  writeServerFile(cwd, { url: server.url, pid: process.pid });
  const env = { TREADLE_DATA: cwd };
  const command =
    (name: string) =>
    (...args: readonly string[]): Promise<Ran> =>
      inside([name, ...args], { cwd, env });
  return { server, runs: command('runs'), allowances: command('allowances') };
}

async function begun(runs: (...args: readonly string[]) => Promise<Ran>, text: string): Promise<string> {
  const { out, code } = await runs('start', text, '--json');
  assert.equal(code, 0);
  return (JSON.parse(out) as { id: string }).id;
}

test('a run is started, watched to its end and told as a story, within 80 columns', async (t) => {
  const { runs } = await aPlace(t);
  const id = await begun(runs, 'story');
  const watched = await runs('watch', id);
  assert.equal(watched.code, 0);
  assert.match(watched.out, /The \*\*end\*\*\./);
  const shown = await runs('show', 'last');
  assert.ok(shown.out.startsWith(`${id}\n`));
  const listed = await runs('list');
  assert.match(listed.out, /completed .* main .* story/);
  for (const line of [watched.out, shown.out, listed.out].join('').split('\n')) assert.ok(widthOf(line) <= 80, line);
});

test('how a watched run comes out is the exit code', async (t) => {
  const { runs } = await aPlace(t);
  for (const [said, code] of [
    ['fail', 1],
    ['loop', 3],
    ['colour', 5],
  ] as const)
    assert.deepEqual([said, (await runs('watch', await begun(runs, said))).code], [said, code]);
});

test('watching ends with a time, and stops nothing', async (t) => {
  const { runs, server } = await aPlace(t);
  const file = linesFile(t);
  const id = await begun(runs, `slowly ${file}`);
  const { code, err } = await runs('watch', id, '--timeout', '100ms', '--on-approval', 'stay');
  assert.equal(code, 124);
  assert.match(err, /The run goes on/);
  assert.equal((await server.call('GET', `/api/v1/runs/${id}`)).body['status'], 'running');
  assert.equal((await runs('stop', id)).code, 0);
});

test('an action is approved by the command that watching prints, and runs once', async (t) => {
  const { runs, server } = await aPlace(t);
  const file = linesFile(t);
  const id = await begun(runs, `write ${file}`);
  const watched = await runs('watch', id);
  assert.equal(watched.code, 5);
  const [, run = '', request = ''] = /runs approve (\S+) (\S+)/.exec(watched.out) ?? [];
  assert.ok(!existsSync(file));
  assert.match((await runs('approve', run, request)).out, new RegExp(`^${request}: allow\n`));
  assert.match((await runs('approve', run)).err, /nothing open that can be answered so/);
  await server.rest(id);
  assert.equal(readFileSync(file, 'utf8'), 'one\n');
});

test('what is approved for always is listed, asked for no more, and taken back', async (t) => {
  const { runs, allowances, server } = await aPlace(t);
  const file = linesFile(t);
  const id = await begun(runs, `write ${file}`);
  await server.rest(id);
  assert.match((await runs('show', id)).out, /runs approve \S+ \S+ --allow always\n/);
  assert.equal((await runs('approve', id, '--allow', 'ever')).code, 2);
  assert.match((await runs('approve', id, '--allow', 'always')).out, /: allow, always\n/);
  await server.rest(id);
  const again = await begun(runs, `write ${file}`);
  assert.equal((await server.rest(again))['status'], 'completed');
  assert.match((await runs('show', again)).out, /allowed before: allow_/);
  const listed = await allowances('list');
  const [, allowed = ''] =
    /^(allow_\w+) {2}every run of approved_line {2}always, with main {2}by local/.exec(listed.out) ?? [];
  assert.equal((await allowances('revoke', allowed)).code, 0);
  assert.notEqual((await allowances('revoke', allowed)).code, 0);
  assert.match((await allowances('list')).err, /Nothing is allowed/);
  const third = await begun(runs, `write ${file}`);
  assert.equal((await server.rest(third))['status'], 'pending_action_approval');
});

test('an action is refused with a reason, or runs with other arguments; a question is answered by its number', async (t) => {
  const { runs, server } = await aPlace(t);
  const [file, other] = [linesFile(t), linesFile(t)];
  const refused = await begun(runs, `write ${file}`);
  await server.rest(refused);
  await runs('reject', refused, '--note', 'not there');
  assert.match((await runs('watch', refused)).out, /not there/);
  const edited = await begun(runs, `write ${file}`);
  await server.rest(edited);
  await runs('edit', edited, JSON.stringify({ file: other, line: 'two' }));
  await server.rest(edited);
  assert.deepEqual([existsSync(file), readFileSync(other, 'utf8')], [false, 'two\n']);
  const asked = await begun(runs, 'colour');
  await server.rest(asked);
  assert.equal((await runs('reply', asked, '7')).code, 2);
  await runs('reply', asked, '2');
  assert.match((await runs('watch', asked)).out, /You like blue\./);
});

test('arguments that do not fit are told to the person, and the request stays open', async (t) => {
  const { runs, server } = await aPlace(t);
  const id = await begun(runs, `write ${linesFile(t)}`);
  await server.rest(id);
  const { code, err } = await runs('edit', id, '{"file": 7}');
  assert.equal(code, 2);
  assert.match(err, /answer_invalid, status 400/);
  assert.equal((await server.rest(id))['status'], 'pending_action_approval');
});

test('a run is spoken to, stopped, resumed, copied, put away, brought back and removed', async (t) => {
  const { runs, server } = await aPlace(t);
  const id = await begun(runs, 'one');
  await server.rest(id);
  await runs('say', id, 'two', 'words');
  assert.match((await runs('watch', id)).out, /You said: two words/);
  const slow = await begun(runs, `slowly ${linesFile(t)}`);
  await runs('stop', slow);
  assert.equal((await runs('watch', slow)).code, 6);
  assert.match((await runs('resume', slow)).out, new RegExp(`^${slow}: `));
  await runs('stop', slow);
  await server.rest(slow);
  const [, copy = ''] = /^(\S+): /.exec((await runs('fork', id)).out) ?? [];
  assert.match((await runs('show', copy)).out, /You said: one/);
  await runs('archive', copy);
  assert.ok(!(await runs('list')).out.includes(copy.slice(0, 12)));
  assert.ok((await runs('list', '--archived')).out.includes(copy.slice(0, 12)));
  await runs('archive', copy, '--undo');
  assert.equal((await runs('delete', copy)).out, `${copy}: removed\n`);
  assert.equal((await runs('show', copy)).code, 2);
});

test('facts come a line each, and what was spent in sums', async (t) => {
  const { runs, server } = await aPlace(t);
  const id = await begun(runs, 'one');
  await server.rest(id);
  const facts = (await runs('export', id)).out.trimEnd().split('\n');
  assert.deepEqual(
    facts.map((line) => (JSON.parse(line) as { seq: number }).seq),
    facts.map((_, index) => index + 1),
  );
  assert.match((await runs('usage', '--by', 'agent')).out, /^main +1 calls/);
});

test('keys, servers and runs that are not there are told in words, with codes for scripts', async (t) => {
  const { runs, server } = await aPlace(t);
  const nobody = await inside(['runs', 'list'], { cwd: workplace(t) });
  assert.deepEqual([nobody.code, /No server is up for/.test(nobody.err)], [2, true]);
  assert.equal((await runs('show', 'run_nowhere')).code, 2);
  const key = await server.key({ scopes: ['read'] });
  const without = await runs('list');
  assert.deepEqual([without.code, /invalid_token/.test(without.err)], [2, true]);
  assert.equal((await runs('list', '--key', key)).code, 0);
  const refused = await runs('start', 'one', '--key', key);
  assert.deepEqual([refused.code, /insufficient_scope, status 403/.test(refused.err)], [2, true]);
  assert.ok(!(without.err + refused.err).includes(key));
  await server.server.close({ drainMs: 0 });
  const gone = await runs('list', '--url', 'http://127.0.0.1:2');
  assert.deepEqual([gone.code, /cannot be reached/.test(gone.err)], [69, true]);
});

test('the beginning of an id is enough where only one run has it', async (t) => {
  const { runs, server } = await aPlace(t);
  const id = await begun(runs, 'one');
  await server.rest(id);
  assert.ok((await runs('show', id.slice(0, 14))).out.startsWith(id));
  await begun(runs, 'two');
  const both = await runs('show', 'run_');
  assert.deepEqual([both.code, /beginning of several runs/.test(both.err)], [2, true]);
});

test('a run that a limit of its own has ended goes on when the limit is raised', async (t) => {
  const { runs } = await aPlace(t);
  const { out } = await runs('start', `write ${linesFile(t)}`, '--max-iterations', '1', '--json');
  const { id } = JSON.parse(out) as { id: string };
  await runs('watch', id);
  await runs('approve', id);
  assert.equal((await runs('watch', id)).code, 3);
  assert.equal((await runs('resume', id, '--max-iterations', '5', '--max-money', '1.50')).code, 0);
  assert.equal((await runs('watch', id)).code, 0);
});

test('a limit that is none is told with what it may be', async (t) => {
  const { runs } = await aPlace(t);
  const id = await begun(runs, 'loop');
  await runs('watch', id);
  for (const [option, given] of [
    ['--max-iterations', 'many'],
    ['--max-money', '1,50'],
    ['--max-tokens', '-1'],
  ] as const) {
    const { code, err } = await runs('resume', id, option, given);
    assert.deepEqual([code, err.includes(option)], [2, true]);
  }
});

test('what would delete a run by a short id says the whole one, and deletes nothing', async (t) => {
  const { runs } = await aPlace(t);
  const id = await begun(runs, 'more');
  await runs('watch', id);
  const { code, err } = await runs('delete', id.slice(0, 10));
  assert.deepEqual([code, err.includes(`runs delete ${id}`)], [2, true]);
  assert.equal((await runs('show', id)).code, 0);
});
