import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalJson } from '../../src/base/json.ts';
import { builtinGroups } from '../../src/platform/bundle/builtins.ts';
import { compileTool } from '../../src/platform/grant/catalog.ts';

const all = [...builtinGroups.values()].flatMap((group) =>
  group.tools.map((spec) => ({ group: group.name, ...compileTool(spec, group.name) })),
);

test('the groups are these, and the two that every agent needs are locked', () => {
  const names = [...builtinGroups.values()].map(({ name, locked, tools }) => [
    name,
    locked,
    ...tools.map((one) => one.name),
  ]);
  assert.deepEqual(names, [
    ['io', true, 'tool_call'],
    ['context', true, 'context_read'],
    ['math', false, 'calculate'],
    ['time', false, 'time_now', 'time_convert', 'time_difference'],
    ['ask_user', false, 'ask_user'],
    ['todo', false, 'todo_write'],
    ['notes', false, 'note_save', 'note_search', 'note_delete'],
    ['web', false, 'web_fetch'],
    ['documents', false, 'document_read'],
    ['files', false, 'files_read', 'files_list', 'files_find', 'files_grep', 'files_write', 'files_edit'],
    ['shell', false, 'shell_run', 'shell_start', 'shell_output', 'shell_stop'],
    ['code', false, 'code_run'],
  ]);
  for (const [key, { name }] of builtinGroups) assert.equal(key, name);
});

test('no two tools share a name, so a model sees each under its own', () => {
  assert.equal(new Set(all.map((one) => one.own)).size, all.length);
});

test('what changes anything outside of the conversation is known: notes, which a person agrees to, files and what programs do', () => {
  const changing = all.filter(({ definition }) => definition.effect !== 'read' || definition.approval !== undefined);
  assert.deepEqual(
    changing.map(({ own, definition: { effect, approval } }) => [own, effect, approval]),
    [
      ['todo_write', 'idempotent', undefined],
      ['note_save', 'idempotent', 'ask'],
      ['note_delete', 'idempotent', 'ask'],
      ['files_write', 'idempotent', undefined],
      ['files_edit', 'once', undefined],
      ['shell_run', 'once', undefined],
      ['shell_start', 'once', undefined],
      ['shell_stop', 'idempotent', undefined],
      ['code_run', 'once', undefined],
    ],
  );
});

test('a key that no tool reads is a problem, never ignored', () => {
  for (const { own, hands } of all) assert.match(hands.validate({ surprise: 1 }).join(), /surprise/, own);
});

test('what they cost in the prompt is bounded', (t) => {
  const bytes = canonicalJson(
    all.map(({ own, definition: { description, inputSchema } }) => ({ own, description, inputSchema })),
  ).length;
  t.diagnostic(`${bytes} bytes for ${all.length} tools`);
  assert.ok(bytes < 16_000, `${bytes} bytes`);
});
