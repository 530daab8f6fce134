// Services that a module provides: what is granted of them, what of that a user leaves, and what a bundle gets wrong.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { narrow } from '../../src/assembly/narrow.ts';
import { clampPatch, menuOf } from '../../src/assembly/menu.ts';
import { emptySelection, type Selection } from '../../src/domain/selection.ts';
import { mergeSelection } from '../../src/domain/selection-patch.ts';
import { aMeta, aTalk, effective, load, problemsOf } from '../support/bundles.ts';

const task = `
const input = { type: 'object', properties: { id: { type: 'string' } } };
export const service = {
  label: 'Tasks',
  description: 'What the team has to do.',
  operations: {
    'object.search': { description: 'Finds tasks.', input, run: () => [] },
    'object.get': { description: 'Reads a task.', input, run: ({ id }) => ({ id }) },
    'object.update': { description: 'Changes a task.', input, effect: 'idempotent', run: () => 'changed' },
    'object.delete': { description: 'Removes a task.', input, run: () => 'gone' },
  },
};
`;

const bundle = (namespaces: string, services = 'task: {kind: module, module: ./task.js}') => `
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - {name: io, kind: module, module: builtin/io}
          - {name: task, kind: named_service, namespaces: ${namespaces}}
    named_services: {${services}}
`;
const three = bundle('{task: {allowed: [object.search, object.get, object.update]}}');
const files = { 'task.js': task };

const off = (task: true | string[]): Selection =>
  mergeSelection(emptySelection, { disabled: { named_services: { task } } });

test('each operation that is granted is a tool, with the effect that it has', async () => {
  const agent = await effective(await load(three, files));
  assert.deepEqual(
    agent.tools.map(({ name, effect, group }) => [name, effect, group]),
    [
      ['task_object_get', 'read', 'task'],
      ['task_object_search', 'read', 'task'],
      ['task_object_update', 'idempotent', 'task'],
      ['tool_call', 'read', 'io'],
    ],
  );
});

test('without a list, all operations are granted', async () => {
  const agent = await effective(await load(bundle('{task: {}}'), files));
  assert.equal(agent.tools.filter(({ group }) => group === 'task').length, 4);
});

test('the roster lists the service, and its text follows the instructions', async () => {
  const agent = await effective(await load(three, files));
  assert.match(agent.gallery ?? '', /^# Services\n\n.*\n\n- task_\*: Tasks\. What the team has to do\.$/s);
});

test('a label and a description of the bundle stand over those of the module', async () => {
  const yaml = bundle('{task: {}}', 'task: {kind: module, module: ./task.js, label: Chores, description: Mine.}');
  assert.match((await effective(await load(yaml, files))).gallery ?? '', /- task_\*: Chores\. Mine\.$/);
});

test('traits of one operation, and of all, stand over its own', async () => {
  const yaml = bundle("{task: {tool_traits: {'*': {approval: ask}, object.get: {approval: never, timeout_ms: 5}}}}");
  const { tools } = await effective(await load(yaml, files));
  const traits = tools.map(({ name, approval, timeoutMs }) => [name, approval, timeoutMs]);
  assert.deepEqual(traits.slice(0, 2), [
    ['task_object_delete', 'ask', undefined],
    ['task_object_get', 'never', 5],
  ]);
});

test('an operation that is left out on purpose says why, and what to do instead', async () => {
  const yaml = bundle(
    '{task: {excluded: {object.delete: {reason: nothing is removed, agent_hint: close it instead}}}}',
  );
  const agent = await effective(await load(yaml, files));
  assert.deepEqual(agent.inactive, [{ name: 'task_object_delete', why: 'nothing is removed; close it instead' }]);
  assert.ok(!agent.tools.some(({ name }) => name === 'task_object_delete'));
});

test('a namespace that is switched off leaves the roster and every tool', async () => {
  const loaded = await load(three, files);
  const store = { readSelection: () => ({ value: off(true), revision: 1 }), writeSelection: () => false };
  const { agent } = await loaded.agentSource(store).assemble(aMeta('main'), aTalk());
  assert.deepEqual(
    agent.tools.map(({ name }) => name),
    ['tool_call'],
  );
  assert.ok(!(agent.gallery ?? '').includes('task'));
  assert.deepEqual(agent.inactive.at(0), { name: 'task_object_get', why: 'switched off by the user' });
});

test('an operation that is switched off goes alone, and the roster stays', async () => {
  const { grant } = (await load(three, files)).agent('main');
  const { tools, services } = narrow(grant, off(['object.update']));
  assert.deepEqual(
    tools.map(({ own }) => own),
    ['object.get', 'object.search', 'tool_call'],
  );
  assert.equal(services.length, 1);
});

test('a denial in another part of the record is another thing', async () => {
  const { grant } = (await load(three, files)).agent('main');
  const elsewhere = mergeSelection(emptySelection, { disabled: { tools: { task: true }, mcp: { task: true } } });
  assert.equal(narrow(grant, elsewhere).tools, grant.tools);
});

test('the menu has the namespace with its operations, and takes a change of them only', async () => {
  const menu = menuOf((await load(three, files)).agent('main').grant);
  const group = menu.groups.find(({ kind }) => kind === 'named_services');
  assert.deepEqual(
    [group?.group, group?.locked, group?.entries.map(({ own }) => own)],
    ['task', false, ['object.get', 'object.search', 'object.update']],
  );
  const { patch, dropped } = clampPatch(
    { disabled: { named_services: { task: ['object.get', 'object.eat'], note: true } } },
    menu,
  );
  assert.deepEqual(patch.disabled?.named_services, { task: ['object.get'] });
  assert.equal(dropped.length, 2);
});

test('the order in the file changes no byte', async () => {
  const other = bundle('{task: {allowed: [object.update, object.search, object.get]}}');
  const [one, two] = [await effective(await load(three, files)), await effective(await load(other, files))];
  assert.deepEqual([two.instructions, two.gallery, two.tools], [one.instructions, one.gallery, one.tools]);
});

const wrong: readonly (readonly [
  about: string,
  yaml: string,
  files: Readonly<Record<string, string>>,
  says: RegExp,
])[] = [
  ['a namespace that nobody provides', bundle('{tasks: {}}'), files, /no service tasks in .*did you mean task/],
  [
    'an operation that is not there',
    bundle('{task: {allowed: [object.serch]}}'),
    files,
    /no operation "object\.serch" in the service task.*did you mean object\.search/,
  ],
  [
    'traits of an operation that is not there',
    bundle('{task: {tool_traits: {object.eat: {}}}}'),
    files,
    /tool_traits.*no operation "object\.eat"/s,
  ],
  ['an operation that is no word', bundle('{task: {allowed: ["object search"]}}'), files, /allowed\[0\]/],
  ['a namespace that is no word', bundle('{"../task": {}}'), files, /namespaces/],
  ['a file that is not there', three, {}, /named_services\.task\.module: .*no such file/],
  ['a module without a service', three, { 'task.js': 'export const task = 1' }, /exports no service.*defineService/s],
  [
    'an operation without a description',
    three,
    { 'task.js': 'export const service = { operations: { get: { input: {}, run() {} } } }' },
    /get with description nothing/,
  ],
  [
    'two operations that a model could not tell apart',
    bundle('{task: {}}'),
    { 'task.js': `${task}; service.operations['object_get'] = service.operations['object.get']` },
    /one name to a model/,
  ],
];
for (const [about, yaml, given, says] of wrong) {
  test(`${about} is a mistake that loading tells`, async () => assert.match(await problemsOf(yaml, given), says));
}

test('a namespace in two entries is a conflict', async () => {
  const twice = three.replace(
    '    named_services',
    '          - {name: more, kind: named_service, namespaces: {task: {}}}\n    named_services',
  );
  assert.match(await problemsOf(twice, files), /the namespace task again/);
});
