// A program that is killed while a tool of the house runs: the next one brings the turn to its end, nothing that acts once
// acts twice, and no file is ever half there.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { openLog } from '../../src/cli/open.ts';
import type { Fact } from '../../src/domain/event.ts';
import { ended, environment, start, treadle, workplace } from '../cli/treadle.ts';
import { brokenRules } from '../support/invariants.ts';

const BODY = 'b'.repeat(400_000);
const use = (name: string, args: object) => ({ actions: [{ name, arguments: args }] });
const CODE = `
  await tools.files_write({ path: 'code.txt', content: 'from code' });
  await tools.shell_run({ command: 'sed -i s/$/x/ inner.txt' });
  try { await tools.note_delete({ id: 'n_none' }); } catch {}
  return (await tools.files_read({ path: 'code.txt' })).value ?? 'read';`;
const SCRIPT = [
  use('plan_update', { steps: [{ step: 1, status: 'doing' }] }),
  use('todo_write', { items: [{ text: 'one' }] }),
  use('note_save', { text: 'They like blue.' }),
  use('files_write', { path: 'big.txt', content: `old${BODY}` }),
  use('files_edit', { path: 'big.txt', edits: [{ old_text: 'oldb', new_text: 'newb' }] }),
  use('shell_run', { command: 'sed -i s/$/x/ outer.txt' }),
  use('code_run', { code: CODE }),
  { text: 'Done.' },
];
const BUNDLE = `
id: killed@1
config: { react: { main: { system_prompt: Work., planning: true, max_iterations: 40 } } }
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - { name: todo, kind: module, module: builtin/todo }
          - { name: notes, kind: module, module: builtin/notes, tool_traits: { note_save: { approval: never } } }
          - { name: files, kind: module, module: builtin/files, tool_traits: { files_write: { approval: never }, files_edit: { approval: never } } }
          - { name: shell, kind: module, module: builtin/shell, config: { allow: ['sed -i *'] } }
          - { name: code, kind: module, module: builtin/code }
plugins:
  active: [planner.static]
  planner.static: { steps: [Everything] }
models:
  balanced: { provider: scripted, model: authored, script: ./script.json }
`;

async function factsIn(data: string): Promise<readonly Fact[]> {
  const { log } = await openLog({ data, reads: true, environment: environment() });
  try {
    const [row] = await log.list({ limit: 1 });
    return row === undefined ? [] : await log.read(row.id, 0, 1_000);
  } finally {
    await log.close();
  }
}

type Point = (facts: readonly Fact[]) => boolean;
const begun =
  (name: string, isInner = false): Point =>
  (facts) =>
    facts.some(
      ({ type, payload }) =>
        type === 'tool.invoke' && payload.name === name && (payload.parent !== undefined) === isInner,
    );

/** Starts the run, kills it at a point, and has another process bring it to its end. */
async function killed(cwd: string, isThere: Point | number): Promise<void> {
  writeFileSync(path.join(cwd, 'bundle.yaml'), BUNDLE);
  writeFileSync(path.join(cwd, 'script.json'), JSON.stringify(SCRIPT));
  for (const name of ['outer', 'inner']) writeFileSync(path.join(cwd, `${name}.txt`), 'ran:\n');
  const data = path.join(cwd, 'data');
  const child = start(['run', 'bundle.yaml', 'Go.', '--data', data], { cwd, input: '' });
  child.stdin?.end();
  const over = ended(child);
  if (typeof isThere === 'number') await pause(isThere);
  else {
    for (const until = Date.now() + 60_000; child.exitCode === null && Date.now() < until;) {
      if (existsSync(data) && isThere(await factsIn(data).catch(() => []))) break;
      await pause(2);
    }
  }
  child.kill('SIGKILL');
  await over;
  assert.ok(isWhole(cwd), 'a file is half there after the kill');
  let { code } = await treadle(['resume', 'last', '--data', data], { cwd });
  // What the code asks about; where no sandbox works, commands ask, too.
  for (let asked = 0; code === 5 && asked < 4; asked++)
    ({ code } = await treadle(['resume', 'last', '--allow', '--data', data], { cwd }));
  if ((await factsIn(data)).length === 0) return; // killed before anything was on record
  assert.equal(code, 0);
}

/** The file is as it was before, or as one of the two tools leaves it. */
function isWhole(cwd: string): boolean {
  const file = path.join(cwd, 'big.txt');
  if (!existsSync(file)) return true;
  const text = readFileSync(file, 'utf8');
  return text === `old${BODY}` || text === `new${BODY}`;
}

const POINTS: readonly (readonly [string, Point | number])[] = [
  ...['plan_update', 'todo_write', 'note_save', 'files_write', 'files_edit', 'shell_run', 'code_run'].map(
    (name) => [`when ${name} has begun`, begun(name)] as const,
  ),
  ['when code has begun to write a file', begun('files_write', true)],
  ['when code has begun a command', begun('shell_run', true)],
  ...[700, 1_100, 1_500].map((ms) => [`after ${ms} ms`, ms] as const),
];

describe('a program that is killed', { concurrency: 4 }, () => {
  for (const [when, point] of POINTS)
    it(`${when} leaves a run that comes to its end, and does nothing twice`, async (t) => {
      const cwd = workplace(t);
      await killed(cwd, point);
      const facts = await factsIn(path.join(cwd, 'data'));
      if (typeof point !== 'number') assert.ok(point(facts), 'the point was reached');
      assert.deepEqual(brokenRules(facts), []);
      assert.ok(isWhole(cwd));
      for (const name of ['outer', 'inner'])
        assert.match(readFileSync(path.join(cwd, `${name}.txt`), 'utf8'), /^ran:x?\n$/, `${name} ran twice`);
      const ends = facts.flatMap((fact) => (fact.type === 'agent.turn.end' ? [fact.payload.status] : []));
      assert.deepEqual(ends, facts.length === 0 ? [] : ['completed']);
    });
});
