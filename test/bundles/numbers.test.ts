// Every number that a bundle may say has a least and a most: zero where that makes no sense, what is negative and what is
// enormous is refused, with the line that it stands on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { z } from 'zod';
import { isObject } from '../../src/base/json.ts';
import { bundleJsonSchema } from '../../src/platform/bundle/bundle-schema.ts';
import { shippedPlugins } from '../../src/plugins/shipped.ts';
import { problemsOf } from '../support/bundles.ts';

interface NumericKey {
  readonly path: readonly string[];
  readonly least: number | undefined;
  readonly most: number | undefined;
}

/** All numeric keys below a schema; `*` for any name, `0` for an item of a list. */
function numericKeys(
  schema: unknown,
  defs: unknown,
  path: readonly string[] = [],
  refs: readonly string[] = [],
): readonly NumericKey[] {
  if (!isObject(schema)) return [];
  const { $ref, type, properties, additionalProperties, items } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.split('/').at(-1) ?? '';
    return refs.includes(name) || !isObject(defs) ? [] : numericKeys(defs[name], defs, path, [...refs, name]);
  }
  if (type === 'integer' || type === 'number') {
    const bound = (...names: readonly string[]): number | undefined =>
      names.map((name) => schema[name]).find((value) => typeof value === 'number');
    return [{ path, least: bound('minimum', 'exclusiveMinimum'), most: bound('maximum', 'exclusiveMaximum') }];
  }
  const below = (one: unknown, name: string) => numericKeys(one, defs, [...path, name], refs);
  const unions = ['anyOf', 'oneOf', 'allOf'].flatMap((name) =>
    Array.isArray(schema[name]) ? (schema[name] as unknown[]) : [],
  );
  return [
    ...unions.flatMap((one) => numericKeys(one, defs, path, refs)),
    ...(isObject(properties) ? Object.entries(properties).flatMap(([name, one]) => below(one, name)) : []),
    ...below(additionalProperties, '*'),
    ...below(items, '0'),
  ];
}

const schema = bundleJsonSchema();
const keys = numericKeys(schema, isObject(schema) ? schema['$defs'] : undefined);

/** What a plugin from outside is told, what a model's own arguments are compared with, and money: much of it is no limit. */
const BOUNDLESS: ReadonlySet<string> = new Set([
  'plugins.*',
  'gate.approval_policy.rules.0.when.*.over',
  'gate.approval_policy.rules.0.when.*.under',
  'gate.approval_policy.rules.0.cost_over',
  'gate.token_budget.ceilings.0.money',
]);

test('every numeric key of a bundle, and of a plugin, has a least and a most', () => {
  const ofPlugins = shippedPlugins.flatMap(({ id, config }) => {
    const made: unknown = z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' });
    return numericKeys(made, isObject(made) ? made['$defs'] : undefined, [id]);
  });
  const open = [...keys, ...ofPlugins].filter(({ path }) => !BOUNDLESS.has(path.join('.')));
  assert.ok(open.length > 60 && ofPlugins.length > 3);
  const boundless = open.filter(({ least, most }) => least === undefined || most === undefined || least < 0);
  assert.deepEqual(
    boundless.map(({ path }) => path.join('.')),
    [],
  );
});

/** Where a key can be written down, and what has to stand beside it. */
const PLACES: readonly { readonly at: readonly string[]; readonly of: readonly string[]; readonly beside: object }[] = [
  { at: ['config', 'react', 'main'], of: ['config', 'react', '*'], beside: {} },
  { at: ['models', 'm'], of: ['models', '*'], beside: { provider: 'scripted', model: 's' } },
  {
    at: ['surfaces', 'as_consumer', 'mcp', 'services', 's'],
    of: ['surfaces', 'as_consumer', 'mcp', 'services', '*'],
    beside: { transport: 'http', url: 'https://a.test/' },
  },
  {
    at: ['surfaces', 'as_consumer', 'agents', 'main', 'skills'],
    of: ['surfaces', 'as_consumer', 'agents', '*', 'skills'],
    beside: {},
  },
  { at: ['prices', 'anthropic/x'], of: ['prices', '*'], beside: { input: '1', output: '1' } },
];

function written(at: readonly string[], beside: object, below: readonly string[], value: number): string {
  const inner = below.reduceRight<unknown>((held, name) => ({ [name]: held }), value);
  const block = { ...beside, ...(inner as object) }; // made of at least one name
  return stringify(at.reduceRight<unknown>((held, name) => ({ [name]: held }), block));
}

test('zero, less than nothing and more than anybody means are refused at their line', async () => {
  let tried = 0;
  for (const { at, of, beside } of PLACES) {
    const here = keys.filter(({ path }) => of.every((name, index) => path[index] === name) && path.length > of.length);
    const plain = here
      .map(({ path, least = 0 }) => ({ below: path.slice(of.length), least }))
      .filter(({ below }) => !below.includes('*') && !below.includes('0'));
    assert.ok(plain.length > 0, at.join('.'));
    for (const { below, least } of plain) {
      for (const value of [...(least > 0 ? [0] : []), -1, 1e18]) {
        const yaml = written(at, beside, below, value);
        const line = yaml.split('\n').findIndex((one) => one.includes(`${below.at(-1) ?? ''}: ${value}`)) + 1;
        const said = await problemsOf(yaml);
        assert.match(
          said,
          new RegExp(`^app\\.yaml:${line}:`, 'm'),
          `${[...at, ...below].join('.')}: ${value}\n${said}`,
        );
        tried++;
      }
    }
  }
  assert.ok(tried > 60);
});
