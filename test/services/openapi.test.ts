// Services that an OpenAPI document describes: from the document to the bytes on the wire, and what can be wrong with both.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { isPromise } from '../../src/base/promise.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { EffectiveAgent } from '../../src/domain/agent.ts';
import type { ToolContext } from '../../src/kernel/running-tool.ts';
import type { LoadedBundle } from '../../src/platform/bundle/load.ts';
import { effective, load, noticesOf, problemsOf } from '../support/bundles.ts';

interface Ending {
  after(undo: () => unknown): void;
}

interface Asked {
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Answer = { readonly status?: number; readonly type?: string; readonly body?: string | Buffer };

async function aServer(t: Ending, answer: (asked: Asked) => Answer = () => ({ body: '{"ok":true}' })) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = {
        line: `${request.method} ${request.url}`,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      asked.push(one);
      const { status = 200, type = 'application/json', body = '' } = answer(one);
      response.writeHead(status, { 'content-type': type }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, close: () => server.close() };
}

const string = { type: 'string' };
const paths: JsonObject = {
  '/tasks': {
    get: {
      operationId: 'listTasks',
      summary: 'Finds tasks.',
      parameters: [
        { name: 'q', in: 'query', schema: string },
        { name: 'tag', in: 'query', schema: { type: 'array', items: string } },
        { name: 'ids', in: 'query', explode: false, schema: { type: 'array', items: string } },
        { name: 'where', in: 'query', style: 'deepObject', schema: { type: 'object' } },
        { name: 'X-Trace', in: 'header', schema: string },
        { name: 'X-API-Key', in: 'header', required: true, schema: string },
      ],
      responses: { 200: { description: 'ok' } },
    },
    post: {
      operationId: 'createTask',
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Task' } } },
      },
      responses: { 201: { description: 'made' } },
    },
  },
  '/tasks/{id}': {
    parameters: [{ name: 'id', in: 'path', required: true, schema: string }],
    get: { operationId: 'getTask', description: 'Reads a task.', responses: { 200: { description: 'ok' } } },
    put: {
      operationId: 'putTask',
      parameters: [{ name: 'body', in: 'query', schema: string }],
      requestBody: {
        content: { 'application/x-www-form-urlencoded': { schema: { type: 'object', properties: { title: string } } } },
      },
      responses: { 200: { description: 'ok' } },
    },
    delete: { responses: { 204: { description: 'gone' } } },
  },
  '/files': {
    post: {
      operationId: 'upload',
      requestBody: { required: true, content: { 'multipart/form-data': { schema: {} } } },
      responses: { 200: { description: 'ok' } },
    },
  },
};
const schemas: JsonObject = {
  Task: {
    type: 'object',
    required: ['id', 'title'],
    properties: {
      id: { type: 'string', readOnly: true },
      title: { type: 'string', nullable: true, example: 'x' },
      parent: { $ref: '#/components/schemas/Task' },
      tags: { type: 'array', nullable: true, items: { $ref: '#/components/schemas/Tag' } },
    },
  },
  Tag: { type: 'string', enum: ['a', 'b'] },
};
const document = (more: JsonObject = {}): JsonObject => ({
  openapi: '3.0.3',
  info: { title: 'Task board', version: '1', description: 'Tasks of a team.\nMore of it.' },
  paths,
  components: { schemas },
  ...more,
});

const bundle = (service: JsonObject, granted: JsonObject = {}, more: JsonObject = {}): string =>
  JSON.stringify({
    surfaces: {
      as_consumer: {
        agents: { main: { tools: [{ name: 'task', kind: 'named_service', namespaces: { task: granted } }] } },
        named_services: { task: { kind: 'openapi', document: 'api.json', ...service } },
      },
    },
    ...more,
  });

const files = (given: JsonObject = document()) => ({ 'api.json': JSON.stringify(given) });
const local = { base_url: 'http://tasks.example/v1' };

interface Opened {
  readonly agent: EffectiveAgent;
  readonly loaded: LoadedBundle;
  readonly run: (name: string, args?: JsonObject, more?: Partial<ToolContext>) => Promise<Record<string, unknown>>;
}

async function opened(
  t: Ending,
  yaml: string,
  given: Readonly<Record<string, string>> = files(),
  environment = {},
): Promise<Opened> {
  const loaded = await load(yaml, given, { environment });
  t.after(() => loaded.close());
  const source = loaded.agentSource();
  const agent = await effective(loaded);
  return {
    agent,
    loaded,
    async run(name, args = {}, more = {}) {
      const tool = source.tools(agent).get(name);
      assert.ok(tool !== undefined, name);
      assert.deepEqual(tool.validate(args), []);
      const signal = AbortSignal.timeout(5_000);
      const returned = tool.run(args, { signal, idempotencyKey: 'c1/a1', ...more } as ToolContext);
      return (isPromise(returned) ? await returned : returned) as Record<string, unknown>;
    },
  };
}

/** An open service behind a local server. */
async function board(t: Ending, answer?: (asked: Asked) => Answer, service: JsonObject = {}) {
  const server = await aServer(t, answer);
  return {
    server,
    ...(await opened(t, bundle({ base_url: `${server.url}/v1`, allow_hosts: ['127.0.0.1'], ...service }))),
  };
}

test('every operation is a tool with the effect that HTTP gives it; what cannot be asked is left out, and told', async (t) => {
  const { agent, loaded } = await opened(t, bundle(local));
  assert.deepEqual(
    agent.tools.map(({ name, effect }) => `${name} ${effect}`),
    [
      'task_DELETE_tasks_id idempotent',
      'task_createTask once',
      'task_getTask read',
      'task_listTasks read',
      'task_putTask idempotent',
    ],
  );
  assert.match(
    noticesOf(loaded).join('\n'),
    /upload is left out: it takes a body of multipart\/form-data, which cannot be sent/,
  );
});

test('the roster takes what the document says of itself', async (t) => {
  const { agent } = await opened(t, bundle(local));
  assert.match(agent.gallery ?? '', /- task_\*: Task board\. Tasks of a team\.$/);
});

test('operations that the bundle names have its names, by id or by method and path', async (t) => {
  const operations = { 'object.search': 'listTasks', 'object.delete': 'delete /tasks/{id}' };
  const { agent } = await opened(t, bundle({ ...local, operations }));
  assert.deepEqual(
    agent.tools.map(({ name }) => name),
    ['task_object_delete', 'task_object_search'],
  );
});

test('a schema is one document: references within it, no value that only the service may set, null as a type', async (t) => {
  const { agent } = await opened(t, bundle(local, { allowed: ['createTask'] }));
  assert.deepEqual(agent.tools[0]?.inputSchema, {
    type: 'object',
    properties: { body: { $ref: '#/$defs/Task' } },
    required: ['body'],
    additionalProperties: false,
    $defs: {
      Task: {
        type: 'object',
        required: ['title'],
        properties: {
          title: { type: ['string', 'null'], examples: ['x'] },
          parent: { $ref: '#/$defs/Task' },
          tags: { type: ['array', 'null'], items: { $ref: '#/$defs/Tag' } },
        },
      },
      Tag: { type: 'string', enum: ['a', 'b'] },
    },
  });
});

test('arguments go where the document says', async (t) => {
  const { run, server } = await board(t);
  const result = await run('task_listTasks', {
    q: 'a b&c',
    tag: ['x', 'y'],
    ids: ['1', '2'],
    where: { done: 'no' },
    'X-Trace': 't',
    'X-API-Key': 'k',
  });
  assert.equal(server.asked[0]?.line, 'GET /v1/tasks?q=a%20b%26c&tag=x&tag=y&ids=1%2C2&where%5Bdone%5D=no');
  assert.equal(server.asked[0].headers['x-trace'], 't');
  assert.deepEqual(result['value'], { ok: true });
});

test('a body goes as JSON or as a form, and what writes says which action it is', async (t) => {
  const { run, server } = await board(t);
  await run('task_createTask', { body: { title: 'Paint' } });
  await run('task_putTask', { id: '7', body: 'q', request_body: { title: 'a b' } });
  assert.deepEqual(
    server.asked.map(({ line, body }) => [line, body]),
    [
      ['POST /v1/tasks', '{"title":"Paint"}'],
      ['PUT /v1/tasks/7?body=q', 'title=a+b'],
    ],
  );
  assert.match(String(server.asked[0]?.headers['idempotency-key']), /^[0-9a-f]{16}$/);
});

test('no argument leads out of the path of its operation', async (t) => {
  const { run, server } = await board(t);
  for (const id of ['..', '.', '']) {
    assert.equal((await run('task_getTask', { id }))['code'], 'bad_arguments', id);
  }
  await run('task_getTask', { id: '../../admin?x=1#y' });
  assert.deepEqual(
    server.asked.map(({ line }) => line),
    ['GET /v1/tasks/..%2F..%2Fadmin%3Fx%3D1%23y'],
  );
});

const access: readonly (readonly [auth: JsonObject & { readonly type: string }, header: string, value: string])[] = [
  [{ type: 'bearer', token: '${KEY}' }, 'authorization', 'Bearer s3cret-key'],
  [{ type: 'header', value: '${KEY}' }, 'x-api-key', 's3cret-key'],
  [
    { type: 'basic', username: 'ana', password: '${KEY}' },
    'authorization',
    `Basic ${Buffer.from('ana:s3cret-key').toString('base64')}`,
  ],
];
for (const [auth, header, value] of access) {
  test(`access of type ${auth.type} is shown, and nobody repeats it`, async (t) => {
    const server = await aServer(t, ({ headers }) => ({ status: 403, body: `no: ${String(headers[header])}` }));
    const yaml = bundle({ base_url: server.url, allow_hosts: ['127.0.0.1'], auth });
    const { run, agent } = await opened(t, yaml, files(), { KEY: 's3cret-key' });
    const failure = await run(
      'task_listTasks',
      agent.tools.some(({ inputSchema }) => JSON.stringify(inputSchema).includes('X-API-Key'))
        ? { 'X-API-Key': 'mine' }
        : {},
    );
    assert.equal(server.asked[0]?.headers[header], value);
    assert.equal(failure['code'], 'http_403');
    assert.ok(!JSON.stringify([failure, agent]).includes('s3cret'), JSON.stringify(failure));
  });
}

test('a header that the operator sets is not the model’s to set', async (t) => {
  const { agent } = await opened(t, bundle({ ...local, headers: { 'x-api-key': 'k' } }));
  assert.ok(!JSON.stringify(agent.tools).includes('X-API-Key'));
});

const answers: readonly (readonly [about: string, answer: Answer, result: JsonObject])[] = [
  ['nothing', { status: 204 }, { kind: 'result', value: null }],
  ['text', { type: 'text/plain', body: 'hi' }, { kind: 'result', content: [{ type: 'text', text: 'hi' }] }],
  ['JSON of a kind', { type: 'application/hal+json; charset=utf-8', body: '[1]' }, { kind: 'result', value: [1] }],
  ['JSON that is none', { body: '{"a":' }, { kind: 'result', content: [{ type: 'text', text: '{"a":' }] }],
  [
    'an image',
    { type: 'image/png', body: Buffer.from([1, 2]) },
    { kind: 'result', content: [{ type: 'file', mediaType: 'image/png', data: 'AQI=' }] },
  ],
  [
    'bytes',
    { type: 'application/zip', body: Buffer.from([1, 2]) },
    { kind: 'result', content: [{ type: 'text', text: '[2 bytes of application/zip, which cannot be shown]' }] },
  ],
  [
    'a refusal',
    { status: 404, body: '{"detail":"gone"}' },
    { kind: 'failure', code: 'http_404', message: 'The service task answered 404 Not Found: {"detail":"gone"}' },
  ],
  [
    'a redirect of a server that is lost',
    { status: 302 },
    { kind: 'failure', code: 'http_302', message: 'The service task answered 302 Found.' },
  ],
];
for (const [about, answer, result] of answers) {
  test(`an answer with ${about} is what it is`, async (t) => {
    const { run } = await board(t, () => answer);
    assert.deepEqual({ ...(await run('task_getTask', { id: '7' })) }, result);
  });
}

test('of a write that was answered with an error of the server nobody knows whether it happened', async (t) => {
  const { run } = await board(t, () => ({ status: 502 }));
  assert.equal((await run('task_createTask', { body: { title: 'x' } }))['uncertain'], true);
});

test('a service that is not there is a failure; nothing was sent, so nothing happened', async (t) => {
  const { run, server } = await board(t);
  server.close();
  const { code, message, uncertain } = await run('task_createTask', { body: { title: 'x' } });
  assert.deepEqual(
    [code, message, uncertain],
    ['unreachable', 'The service task cannot be reached (ECONNREFUSED).', undefined],
  );
});

test('an address in the network of the operator is not asked unless its host is allowed', async (t) => {
  const server = await aServer(t);
  const { run } = await opened(t, bundle({ base_url: server.url }));
  const { code, message } = await run('task_getTask', { id: '7' });
  assert.equal(code, 'refused');
  assert.match(String(message), /127\.0\.0\.1 is a private address/);
  assert.equal(server.asked.length, 0);
});

test('a document in YAML, and one of Swagger 2.0, are read', async (t) => {
  const yaml =
    'openapi: 3.1.0\ninfo: {title: T, version: "1"}\npaths: {/a: {get: {operationId: a, responses: {"200": {description: ok}}}}}\n';
  assert.equal((await opened(t, bundle(local), { 'api.json': yaml })).agent.tools.length, 1);
  const swagger = {
    swagger: '2.0',
    info: { title: 'T', version: '1' },
    host: 'old.example',
    basePath: '/v2',
    schemes: ['https'],
    paths: {
      '/a': {
        post: {
          operationId: 'a',
          parameters: [{ in: 'body', name: 'it', required: true, schema: { $ref: '#/definitions/A' } }],
          responses: { 200: { description: 'ok' } },
        },
      },
    },
    definitions: { A: { type: 'object', properties: { n: { type: 'integer' } } } },
  };
  const { agent } = await opened(t, bundle({}), files(swagger));
  assert.match(JSON.stringify(agent.tools[0]?.inputSchema), /"body":\{"\$ref":"#\/\$defs\/A"\}/);
});

const wrong: readonly (readonly [
  about: string,
  service: JsonObject,
  files: Readonly<Record<string, string>>,
  says: RegExp,
])[] = [
  ['a file that is not there', local, {}, /named_services\.task\.document: .*no such file/],
  [
    'a file outside of the folder',
    { ...local, document: '../api.json' },
    files(),
    /a file in the folder of the bundle/,
  ],
  ['no JSON', local, { 'api.json': '{"openapi": ' }, /it is no JSON/],
  ['no YAML', local, { 'api.json': 'a: [' }, /it is no YAML/],
  ['a list', local, { 'api.json': '- 1' }, /it is no mapping/],
  [
    'another kind of document',
    local,
    { 'api.json': '{"openrpc": "1.0"}' },
    /it is no OpenAPI document: Cannot find supported/,
  ],
  [
    'a document that is not whole',
    local,
    { 'api.json': '{"openapi": "3.1.0", "info": {"version": "1"}, "paths": {}}' },
    /it is no OpenAPI document: .*title/,
  ],
  ['a reference to nothing', local, files(document({ components: {} })), /it is no OpenAPI document/],
  [
    'a reference to another document',
    local,
    files(document({ paths: { '/a': { $ref: 'https://evil.example/a.json' } } })),
    /refers to another document, "https:/,
  ],
  [
    'a key that reaches a prototype',
    local,
    { 'api.json': '{"openapi": "3.1.0", "__proto__": {}}' },
    /__proto__, which is not allowed/,
  ],
  [
    'YAML that grows without end',
    local,
    {
      'api.json': `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghij'
        .split('')
        .map((one, at) => `${one}: &${one} [${`*${'abcdefghi'[at]},`.repeat(9)}]`)
        .join('\n')}`,
    },
    /it is no YAML|more than \d+ values/,
  ],
  [
    'an operation that is not there',
    { ...local, operations: { 'object.get': 'getTsk' } },
    files(),
    /operations\["object\.get"\]: .*no operation "getTsk".*did you mean getTask/,
  ],
  [
    'an operation that cannot be asked',
    { ...local, operations: { 'object.put': 'upload' } },
    files(),
    /upload, which cannot be used: it takes a body of multipart/,
  ],
  ['no server', {}, files(), /does not say where its server is; set base_url/],
];
for (const [about, service, given, says] of wrong) {
  test(`${about} is a mistake that loading tells`, async () =>
    assert.match(await problemsOf(bundle(service), given), says));
}

test('an operation that the document does not have cannot be granted', async () => {
  assert.match(
    await problemsOf(bundle(local, { allowed: ['getTsk'] }), files()),
    /no operation "getTsk" in the service task; did you mean getTask/,
  );
});

test('a document at an address is fetched, and its server is the one it names', async (t) => {
  const server = await aServer(t, ({ line }) => ({
    body: line.endsWith('/api.json') ? JSON.stringify(document({ servers: [{ url: '/v3' }] })) : '{}',
  }));
  const { run } = await opened(t, bundle({ document: `${server.url}/api.json`, allow_hosts: ['127.0.0.1'] }), {});
  await run('task_getTask', { id: '7' });
  assert.deepEqual(
    server.asked.map(({ line }) => line),
    ['GET /api.json', 'GET /v3/tasks/7'],
  );
});

test('a document from elsewhere does not say who is shown a secret', async (t) => {
  const server = await aServer(t, () => ({
    body: JSON.stringify(document({ servers: [{ url: 'https://evil.example' }] })),
  }));
  const service = {
    document: `${server.url}/api.json`,
    allow_hosts: ['127.0.0.1'],
    auth: { type: 'bearer', token: 'secret' },
  };
  const said = await problemsOf(bundle(service), {});
  assert.match(
    said,
    /whose server is https:\/\/evil\.example, wanted to be told whom to show who we are; set base_url/,
  );
});

test('a bad document at an address is a mistake that loading tells', async (t) => {
  const server = await aServer(t, () => ({ body: '<html>' }));
  assert.match(
    await problemsOf(bundle({ document: `${server.url}/api.json`, allow_hosts: ['127.0.0.1'] }), {}),
    /\(service_document\)/,
  );
});

test('a service whose document cannot be had is inactive with the reason, and comes when it can be had', async (t) => {
  let isUp = false;
  const server = await aServer(t, () => (isUp ? { body: JSON.stringify(document()) } : { status: 503 }));
  const yaml = bundle(
    { document: `${server.url}/api.json`, allow_hosts: ['127.0.0.1'], base_url: server.url },
    { allowed: ['getTask'] },
  );
  let now = 0;
  const loaded = await load(yaml, {}, { clock: { now: () => now, after: () => () => undefined } });
  t.after(() => loaded.close());
  const before = await effective(loaded);
  assert.deepEqual(before.inactive, [
    { name: 'task_getTask', why: 'the service task cannot be used: its document is answered with 503' },
  ]);
  assert.ok(!(before.gallery ?? '').includes('task'));
  isUp = true;
  assert.equal((await effective(loaded)).tools.length, 0);
  now = 31_000;
  const after = await effective(loaded);
  assert.deepEqual([after.tools.map(({ name }) => name), after.inactive], [['task_getTask'], []]);
  assert.match(after.gallery ?? '', /task_\*/);
});

test('a document that is down cannot be asked for at a private address either', async (t) => {
  const { agent } = await opened(t, bundle({ document: 'http://169.254.169.254/api.json' }), {});
  assert.deepEqual(agent.inactive, [
    { name: 'task', why: 'the service task cannot be used: 169.254.169.254 is a private address' },
  ]);
});
