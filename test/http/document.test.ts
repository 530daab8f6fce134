// The OpenAPI document and the reference page, against what is served.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import Ajv2020 from 'ajv/dist/2020.js';
import { isObject, type Json, type JsonObject } from '../../src/base/json.ts';
import { openApiDocument, SURFACES } from '../../src/http/openapi.ts';
import { aServer } from './server.ts';

const document = openApiDocument({ version: '1.2.3', publicUrl: 'https://agents.example/' });

function* referencesIn(value: Json): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, one] of Object.entries(value)) {
    if (name === '$ref' && typeof one === 'string') yield one;
    yield* referencesIn(one);
  }
}

test('the document is OpenAPI 3.1 with every route once', () => {
  assert.deepEqual([document['openapi'], (document['info'] as JsonObject)['version']], ['3.1.0', '1.2.3']);
  const told = Object.entries(document['paths'] as JsonObject).flatMap(([path, methods]) =>
    Object.keys(methods as JsonObject).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const served = SURFACES.flatMap(({ prefix, table }) =>
    Object.values(table).map(({ method, path }) => `${method} ${prefix}${path}`),
  );
  assert.deepEqual(told.sort(), served.sort());
});

test('every reference leads to a schema, every schema is used, and each is valid JSON Schema', () => {
  const schemas = (document['components'] as JsonObject)['schemas'] as JsonObject;
  const named = new Set([...referencesIn(document)].map((one) => one.replace('#/components/schemas/', '')));
  assert.deepEqual([...named].sort(), Object.keys(schemas).sort());
  const ajv = new Ajv2020.default({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'doc', components: { schemas } });
  for (const name of named) assert.ok(ajv.getSchema(`doc#/components/schemas/${name}`), name);
});

test('every parameter of a path is declared', () => {
  for (const [path, methods] of Object.entries(document['paths'] as JsonObject)) {
    const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    for (const operation of Object.values(methods as JsonObject)) {
      const given = ((operation as JsonObject)['parameters'] as JsonObject[]).filter((one) => one['in'] === 'path');
      assert.deepEqual(
        given.map((one) => one['name']),
        wanted,
        path,
      );
    }
  }
});

test('the document is served as it is', async (t) => {
  const { call } = await aServer(t, { version: '1.2.3', publicUrl: 'https://agents.example/' });
  const { body, headers } = await call('GET', '/api/openapi.json');
  assert.deepEqual([body, headers.get('content-type')], [JSON.parse(JSON.stringify(document)), 'application/json']);
});

test('the page has every route and schema, loads nothing, and its policy fits its style', async (t) => {
  const { url } = await aServer(t);
  const given = await fetch(`${url}/api/docs`);
  const html = await given.text();
  for (const { table } of SURFACES)
    for (const name of Object.keys(table)) assert.ok(html.includes(`id="${name}"`), name);
  const targets = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id = '']) => id);
  for (const id of targets) assert.ok(html.includes(`id="${id}"`), id);
  assert.doesNotMatch(html, /<script|src=|url\(|@import|https?:\/\//);
  const [, style = ''] = /<style>([^]*?)<\/style>/.exec(html) ?? [];
  assert.ok(given.headers.get('content-security-policy')?.includes(`sha256-${hash('sha256', style, 'base64')}`));
});

test('a server answers every route that it documents', async (t) => {
  const { call } = await aServer(t);
  for (const [path, methods] of Object.entries(document['paths'] as JsonObject)) {
    for (const method of Object.keys(isObject(methods) ? methods : {})) {
      const at = path.replace('{id}', 'none').replace('{iteration}', '1');
      const { body, status } = await call(method.toUpperCase(), at, method === 'get' ? {} : { body: {} });
      const { message } = (body['error'] ?? {}) as { message?: string };
      assert.notEqual(message, 'There is no such path.', `${method} ${path}`);
      assert.notEqual(status, 405, `${method} ${path}`);
    }
  }
});
