import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { renderConfigurationDoc } from '../../scripts/docs/configuration.ts';
import { compileSchema } from '../../src/adapters/schema/ajv.ts';
import { isObject, toJson } from '../../src/base/json.ts';
import { bundleJsonSchema, keysAt } from '../../src/platform/bundle/bundle-schema.ts';

const root = path.join(import.meta.dirname, '../..');
const check = compileSchema(bundleJsonSchema());
const problems = (file: string) => check(toJson(parse(readFileSync(path.join(root, file), 'utf8'))));

test('an editor finds nothing wrong with the bundles that ship and the printed examples', () => {
  for (const file of [
    'agents/exposure.yaml',
    'agents/desk.yaml',
    'agents/coding.yaml',
    'agents/research.yaml',
    'agents/support.yaml',
    'test/fixtures/bundles/kdcube.yaml',
    'test/fixtures/bundles/nexus.yaml',
  ]) {
    assert.deepEqual(problems(file), [], file);
  }
});

test('an editor marks a misspelt key, a wrong value and a key of a later version', () => {
  assert.equal(check({ confg: {} }).length, 1);
  assert.equal(check({ config: { react: { main: { max_iterations: 0 } } } }).length, 1);
  assert.equal(check({ config: { react: { main: { debug_timeline: true } } } }).length, 1);
  assert.equal(check({ config: { react: { main: { debug_timeline: {} } } } }).length, 0);
});

test('the keys at a path are those that are read there', () => {
  assert.deepEqual(keysAt(['config']), ['role_models', 'react', 'surfaces']);
  assert.ok(keysAt(['config', 'react', 'main']).includes('max_iterations'));
  assert.ok(!keysAt(['config', 'react', 'main']).includes('debug_timeline'));
  assert.ok(keysAt(['config', 'react', 'main', 'supported_models', 0]).includes('label'));
});

test('every key says what it means, and since when', () => {
  const silent: string[] = [];
  const visit = (schema: unknown, at: string): void => {
    if (Array.isArray(schema)) schema.forEach((one) => visit(one, at));
    if (!isObject(schema)) return;
    for (const [name, property] of Object.entries(isObject(schema['properties']) ? schema['properties'] : {})) {
      const isTold = isObject(property) && typeof property['description'] === 'string';
      if (!isTold || (property['since'] === undefined && property['later'] !== true)) silent.push(`${at}.${name}`);
      visit(property, `${at}.${name}`);
    }
    for (const below of ['anyOf', 'oneOf', 'items', 'additionalProperties']) visit(schema[below], at);
    if (isObject(schema['$defs'])) Object.entries(schema['$defs']).forEach(([name, one]) => visit(one, name));
  };
  visit(bundleJsonSchema(), 'bundle');
  assert.deepEqual(silent, []);
});

test('the page on configuration has a row for every key', () => {
  const page = renderConfigurationDoc();
  const behaviour = keysAt(['config', 'react', 'main']);
  for (const name of [
    ...keysAt([]),
    ...behaviour,
    'accounts',
    'subagents',
    'tool_claims',
    'api_key_env',
    'gate.endless_loop',
  ]) {
    assert.ok(page.includes(`\n| \`${name}\` |`), name);
  }
  assert.doesNotMatch(page, /undefined|\[object/);
});
