import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { modelNames, remoteNames } from '../../src/assembly/names.ts';

const part = fc.stringMatching(/^[a-c_]{1,4}$/);
const anyTools = fc.uniqueArray(fc.record({ alias: part, own: part }), {
  selector: ({ alias, own }) => `${alias}/${own}`,
  maxLength: 12,
});

test('a tool keeps its own name where nobody else has it, and takes its group along where somebody does', () => {
  const tools = [
    { alias: 'web', own: 'search' },
    { alias: 'kb', own: 'search' },
    { alias: 'web', own: 'fetch' },
  ];
  assert.deepEqual(modelNames(tools), ['web_search', 'kb_search', 'fetch']);
});

test('names are distinct, short and safe for every provider', () => {
  fc.assert(
    fc.property(anyTools, (tools) => {
      const names = modelNames(tools);
      assert.equal(new Set(names).size, tools.length);
      assert.ok(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name)));
    }),
  );
});

test('the order of the groups in a file changes no name', () => {
  fc.assert(
    fc.property(
      anyTools.chain((tools) => fc.tuple(fc.constant(tools), fc.shuffledSubarray(tools, { minLength: tools.length }))),
      ([tools, shuffled]) => {
        const names = new Map(tools.map((tool, index) => [tool, modelNames(tools)[index]]));
        assert.deepEqual(
          modelNames(shuffled),
          shuffled.map((tool) => names.get(tool)),
        );
      },
    ),
  );
});

test('two tools whose groups and names run together alike are told apart', () => {
  const names = modelNames([
    { alias: 'a_b', own: 'c' },
    { alias: 'x', own: 'c' },
    { alias: 'a', own: 'b_c' },
    { alias: 'x', own: 'b_c' },
  ]);
  assert.equal(new Set(names).size, 4);
  assert.ok(!names.includes('a_b_c'));
});

test('names that would be too long end in a digest of their own', () => {
  const own = 'a'.repeat(60);
  const names = modelNames([
    { alias: 'first_group', own },
    { alias: 'first_grown', own },
  ]);
  assert.ok(names.every((name) => name.length === 64));
  assert.notEqual(names[0], names[1]);
});

const remote = (alias: string, own: string) => ({ alias, own });

test('a tool of a server is called by its group and its name, whoever else is there', () => {
  assert.deepEqual(remoteNames([remote('kb', 'search'), remote('wiki', 'search')], new Set()), [
    'kb_search',
    'wiki_search',
  ]);
});

test('names that no provider takes become names that all take', () => {
  const owns = ['a.b', 'a/b', 'ein schönes', '工具', 'x'.repeat(100), '__proto__', '', 'a_b'];
  const names = remoteNames(
    owns.map((own) => remote('kb', own)),
    new Set(),
  );
  for (const name of names) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
  assert.equal(new Set(names).size, owns.length);
  assert.equal(names.at(-1), 'kb_a_b');
});

test('no server takes a name that something else has', () => {
  const [first = ''] = remoteNames([remote('kb', 'search')], new Set(['kb_search']));
  assert.match(first, /^kb_search_[0-9a-f]{8}$/);
  const [second] = remoteNames([remote('kb', 'search')], new Set(['kb_search', first]));
  assert.notEqual(second, first);
});

test('whatever servers call their tools, the names are safe, distinct, and do not depend on the order', () => {
  const owns = fc.uniqueArray(
    fc.tuple(fc.constantFrom('a', 'a_b', 'kb'), fc.oneof(fc.string(), fc.constantFrom('b_c', 'c', 'c.d', 'c/d'))),
    {
      selector: ([alias, own]) => `${alias}\n${own}`,
      maxLength: 20,
    },
  );
  fc.assert(
    fc.property(owns, fc.array(fc.constantFrom<string>('a_b_c', 'kb_c', 'a_c')), (tools, taken) => {
      const given = tools.map(([alias, own]) => remote(alias, own));
      const names = remoteNames(given, new Set(taken));
      assert.ok(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name) && !taken.includes(name)));
      assert.equal(new Set(names).size, names.length);
      assert.deepEqual(remoteNames(given.toReversed(), new Set(taken)).toReversed(), names);
    }),
  );
});
