import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { parseJson, type JsonObject } from '../../src/base/json.ts';
import { compileSchema } from '../../src/adapters/schema/ajv.ts';
import { checkOf, jsonSchemaOf } from '../../src/adapters/schema/zod.ts';

const exposure: JsonObject = {
  type: 'object',
  properties: {
    position_value: { type: 'number', minimum: 0 },
    side: { enum: ['long', 'short'] },
    when: { type: 'string', format: 'date' },
    note: {
      anyOf: [{ type: 'string' }, { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }],
    },
  },
  required: ['position_value'],
  additionalProperties: false,
};

const cases: readonly (readonly [args: string, ...problems: string[]])[] = [
  ['{"position_value":8000}'],
  ['{"position_value":"8000"}', '/position_value: wanted number, found string "8000"'],
  ['{}', '/position_value: wanted number, found nothing'],
  ['{"position_value":1,"side":"up"}', '/side: wanted one of "long", "short", found string "up"'],
  ['{"position_value":1,"portfolio":2}', '/portfolio: not a known name; known: position_value, side, when, note'],
  ['{"position_value":-1}', '/position_value: wanted to be >= 0, found number -1'],
  ['{"position_value":1,"when":"soon"}', '/when: wanted to match format "date", found string "soon"'],
  ['{"position_value":1,"note":5}', '/note: wanted string or object, found number 5'],
  ['{"position_value":1,"note":{"id":"x"}}', '/note/id: wanted integer, found string "x"'],
  ['[]', '/: wanted object, found an empty array'],
  ['null', '/: wanted object, found null'],
];

for (const [args, ...problems] of cases) {
  test(`arguments ${args} are ${problems.length === 0 ? 'accepted' : 'refused'}`, () => {
    assert.deepEqual(compileSchema(exposure)(parseJson(args, 'the test')), problems);
  });
}

test('B068 the dialect is what $schema says, and 2020-12 where it says something unknown', () => {
  const uris = [
    'https://json-schema.org/draft/2020-12/schema',
    'https://json-schema.org/draft/2019-09/schema',
    'http://json-schema.org/draft-07/schema#',
    'http://json-schema.org/draft-06/schema#',
    'https://example.com/my-schema',
  ];
  for (const $schema of uris) {
    const check = compileSchema({ $schema, ...exposure });
    assert.deepEqual(check({ position_value: '1' }), ['/position_value: wanted number, found string "1"'], $schema);
  }
});

test('draft-04 has its own way to leave a limit out, and 2020-12 its own tuples', () => {
  const four = compileSchema({
    $schema: 'http://json-schema.org/draft-04/schema#',
    type: 'object',
    properties: { a: { type: 'number', minimum: 0, exclusiveMinimum: true } },
  });
  assert.equal(four({ a: 0 }).length, 1);
  const tuple = { type: 'object', properties: { a: { prefixItems: [{ type: 'string' }], items: false } } };
  assert.deepEqual(compileSchema(tuple)({ a: ['x'] }), []);
  assert.equal(compileSchema(tuple)({ a: ['x', 'y'] }).length, 1);
});

test('B069 a union of kinds takes each of them', () => {
  const check = compileSchema({
    type: 'object',
    properties: { languages: { type: ['array', 'null'], items: { type: 'string' } } },
  });
  assert.deepEqual([check({ languages: null }), check({ languages: ['de'] })], [[], []]);
  assert.deepEqual(check({ languages: [1] }), ['/languages/0: wanted string, found number 1']);
  assert.deepEqual(check({ languages: 'de' }), ['/languages: wanted array or null, found string "de"']);
});

test('references within a schema are followed, also in circles', () => {
  const check = compileSchema({
    type: 'object',
    properties: { tree: { $ref: '#/$defs/tree' } },
    $defs: { tree: { type: 'object', properties: { left: { $ref: '#/$defs/tree' }, value: { type: 'number' } } } },
  });
  assert.deepEqual(check({ tree: { left: { left: { value: 1 } } } }), []);
  assert.deepEqual(check({ tree: { left: { value: 'x' } } }), ['/tree/left/value: wanted number, found string "x"']);
});

test('a schema that cannot be compiled is an error with its place', () => {
  const bad: readonly JsonObject[] = [{ type: 'strng' }, { $ref: 'https://example.com/x' }, { $ref: '#/$defs/none' }];
  for (const schema of bad) {
    assert.throws(() => compileSchema(schema, 'tools.ts: add'), /^TreadleError: tools\.ts: add: .*\(tool_schema\)$/);
  }
});

test('two schemas may have the same id', () => {
  const schema = { $id: 'https://example.com/a', type: 'object' };
  assert.deepEqual([compileSchema({ ...schema })({}), compileSchema({ ...schema })({})], [[], []]);
});

test('a pattern that only the old kind of expression takes is taken', () => {
  const check = compileSchema({ type: 'object', properties: { a: { type: 'string', pattern: '^[\\w\\-]+$' } } });
  assert.deepEqual([check({ a: 'x-y' }).length, check({ a: '!' }).length], [0, 1]);
});

test('nothing is coerced and no default is put in', () => {
  const args = { a: '1' };
  const check = compileSchema({ type: 'object', properties: { a: { type: 'number' }, b: { default: 5 } } });
  assert.equal(check(args).length, 1);
  assert.deepEqual(args, { a: '1' });
});

test('at most five problems are told', () => {
  const properties = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`k${index}`, { type: 'number' }]));
  const args = Object.fromEntries(Object.keys(properties).map((key) => [key, 'x']));
  assert.equal(compileSchema({ type: 'object', properties })(args).length, 5);
});

const poisoned = [
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '{"a":[{"b":{"__proto__":{"admin":true}}}]}',
];

for (const text of poisoned) {
  test(`a key that names a prototype is refused: ${text}`, () => {
    const args = parseJson(text, 'the test');
    for (const check of [compileSchema({ type: 'object' }), checkOf(z.looseObject({}))]) {
      assert.match(check(args)[0] ?? '', /: this name is not allowed$/);
    }
    assert.equal(Reflect.get({}, 'admin'), undefined);
    assert.equal(Reflect.get({}, 'x'), undefined);
  });
}

test('a zod input is held to by itself, in the same words', () => {
  const input = z
    .strictObject({ a: z.int().min(1), kind: z.enum(['x', 'y']), to: z.string() })
    .refine(({ to }) => to !== 'me', {
      path: ['to'],
      error: 'write to somebody else',
    });
  const check = checkOf(input);
  assert.deepEqual(check({ a: 1, kind: 'x', to: 'you' }), []);
  assert.deepEqual(check({ a: '1', kind: 'z', to: 'you', b: 1 }), [
    '/a: wanted number, found string "1"',
    '/kind: wanted one of "x", "y", found string "z"',
    '/b: not a known name',
  ]);
  assert.deepEqual(check({ a: 1, kind: 'x', to: 'me' }), ['/to: write to somebody else']);
});

test('what JSON Schema would say differently is left to zod', () => {
  const input = z.strictObject({ word: z.string().regex(/^[a-z]+$/i), n: z.int(), by: z.record(z.string(), z.int()) });
  const schema = jsonSchemaOf(input, 'the test');
  assert.deepEqual(schema['properties'], {
    word: { type: 'string' },
    n: { type: 'integer' },
    by: { type: 'object', additionalProperties: { type: 'integer' } },
  });
  assert.deepEqual(checkOf(input)({ word: 'ABC', n: 1, by: {} }), []);
  assert.equal(checkOf(input)({ word: '1', n: 1, by: {} }).length, 1);
});
