// A process that is killed in the middle of a write, an edit or a command: what the file is then, and what resume makes of it.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createRootedFiles } from '../../src/adapters/files/rooted.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { Draft } from '../../src/domain/event.ts';
import type { Log } from '../../src/kernel/log.ts';
import type { Tool, ToolContext } from '../../src/kernel/running-tool.ts';
import { builtinGroups } from '../../src/platform/bundle/builtins.ts';
import { compileTool, toolOf } from '../../src/platform/grant/catalog.ts';
import { aHouse, lastOf, type House } from '../support/house.ts';

interface Ending {
  after(undo: () => unknown): void;
}

/** The tools of a group with the files of a root, each of which may be replaced. */
function toolsIn(root: string, group: string, config: JsonObject = {}): readonly Tool[] {
  const found = builtinGroups.get(group);
  assert.ok(found);
  const files = createRootedFiles({ root });
  const handed = (context: ToolContext): ToolContext =>
    Object.create(context, { files: { value: files } }) as ToolContext;
  return (found.configured?.tools(config) ?? found.tools).map((spec) => {
    const compiled = compileTool(spec, group);
    const tool = toolOf(compiled, { ...compiled.definition, name: compiled.own, group });
    return {
      ...tool,
      run: (args, context) => tool.run(args, handed(context)),
      ...(tool.probe && { probe: (key: string, context: ToolContext) => tool.probe?.(key, handed(context)) }),
      judge: () => undefined,
    };
  });
}

class Killed extends Error {}

/** A log whose process is killed before it can write the result of the action. */
function dying(log: Log, action: string): Log {
  const fatal = ({ type, payload }: Draft): boolean =>
    type === 'tool.result' && (payload as { action: string }).action === action;
  return {
    ...log,
    append(lease, expected, drafts, row) {
      if (drafts.some(fatal)) throw new Killed();
      return log.append(lease, expected, drafts, row);
    },
  };
}

interface Life {
  readonly root: string;
  /** What the next process makes of it. */
  readonly resume: () => Promise<House>;
}

/** Runs until the process is killed between the work of its second action and the record of it. */
async function killed(
  t: Ending,
  second: { readonly name: string; readonly arguments: JsonObject },
  group = 'files',
): Promise<Life> {
  const root = mkdtempSync(path.join(tmpdir(), 'treadle-crash-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(path.join(root, 'a.txt'), 'one\ntwo\n');
  const log = createMemoryLog({ clock: systemClock });
  const tools = [...toolsIn(root, 'files'), ...(group === 'files' ? [] : toolsIn(root, group, { sandbox: 'off' }))];
  const script = [
    { actions: [{ name: 'files_read', arguments: { path: 'a.txt' } }] },
    { actions: [second] },
    { text: 'Done.' },
  ];
  const first = aHouse({ script, tools, log: dying(log, 't1-2-1') });
  await assert.rejects(first.ask('Go.'), Killed);
  return {
    root,
    async resume() {
      const house = aHouse({ script, tools, log });
      await house.drive({ owner: 'w2' });
      return house;
    },
  };
}

const edit = { name: 'files_edit', arguments: { path: 'a.txt', edits: [{ old_text: 'two', new_text: '2' }] } };

test('an edit that was made and not recorded is found again by what the file is now', async (t) => {
  const { root, resume } = await killed(t, edit);
  assert.equal(readFileSync(path.join(root, 'a.txt'), 'utf8'), 'one\n2\n');
  const house = await resume();
  assert.equal((await lastOf(house, 'tool.result'))?.outcome, 'ok');
  assert.equal(readFileSync(path.join(root, 'a.txt'), 'utf8'), 'one\n2\n');
});

test('an edit that was begun and not made is made', async (t) => {
  const { root, resume } = await killed(t, edit);
  writeFileSync(path.join(root, 'a.txt'), 'one\ntwo\n'); // as if the process had been killed a moment sooner
  const house = await resume();
  assert.equal((await lastOf(house, 'tool.result'))?.outcome, 'ok');
  assert.equal(readFileSync(path.join(root, 'a.txt'), 'utf8'), 'one\n2\n');
});

test('an edit of a file that somebody has changed since is in doubt, and is not made again', async (t) => {
  const { root, resume } = await killed(t, edit);
  writeFileSync(path.join(root, 'a.txt'), 'two\nelse\n');
  const house = await resume();
  const result = await lastOf(house, 'tool.result');
  assert.deepEqual([result?.outcome, result?.error?.code], ['unknown', 'interrupted']);
  assert.equal(readFileSync(path.join(root, 'a.txt'), 'utf8'), 'two\nelse\n');
});

test('a file that was written and not recorded is written again, which changes nothing', async (t) => {
  const { root, resume } = await killed(t, { name: 'files_write', arguments: { path: 'a.txt', content: 'new\n' } });
  const house = await resume();
  assert.deepEqual((await lastOf(house, 'tool.result'))?.outcome, 'ok');
  assert.equal(readFileSync(path.join(root, 'a.txt'), 'utf8'), 'new\n');
  assert.deepEqual(readdirSync(root), ['a.txt']);
});

test('a command that was interrupted is not run again: nobody can say how far it came', async (t) => {
  const { root, resume } = await killed(
    t,
    { name: 'shell_run', arguments: { command: 'echo x >> runs.txt' } },
    'shell',
  );
  const house = await resume();
  assert.equal((await lastOf(house, 'tool.result'))?.outcome, 'unknown');
  assert.equal(readFileSync(path.join(root, 'runs.txt'), 'utf8'), 'x\n');
});

test('what a process that was killed in mid-write leaves behind is seen by nobody', async (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'treadle-crash-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(path.join(root, '.treadle-4711-1.tmp'), 'half');
  assert.deepEqual(await createRootedFiles({ root }).list(''), []);
});
