import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Tool } from '../../src/kernel/running-tool.ts';
import { loadBundle, type LoadedBundle } from '../../src/platform/bundle/load.ts';
import { effective, inFolder, load, loadOptions, problemsOf } from '../support/bundles.ts';
import { aContext } from '../support/tool-context.ts';

const granted = (...entries: readonly string[]) =>
  `surfaces:\n  as_consumer:\n    agents:\n      main:\n        tools:\n${entries.map((entry) => `          - ${entry}\n`).join('')}`;

const here = (file: string) => JSON.stringify(pathToFileURL(path.join(import.meta.dirname, '../..', file)).href);
const imports = `import { z } from ${here('node_modules/zod/index.js')};
import { defineTool, toolFailure, toolResult } from ${here('src/kernel/tool.ts')};
`;

const add = `export const add = defineTool({
  name: 'add',
  description: ' Adds. ',
  input: z.strictObject({ b: z.number(), a: z.number().default(1) }),
  run: ({ a, b }) => a + b,
});
`;
const raw = `export const echo = {
  name: 'echo',
  description: 'Says it again.',
  input: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
  effect: 'read',
  run: (args) => args,
};
`;

async function tool(bundle: LoadedBundle, name: string): Promise<Tool> {
  const found = bundle
    .agentSource()
    .tools(await effective(bundle))
    .get(name);
  assert.ok(found, `no tool ${name}`);
  return found;
}

test('a module grants each tool that it exports', async () => {
  const bundle = await load(granted('{name: sums, kind: module, module: ./sums.ts}'), {
    'sums.ts': `${imports}${add}${raw}export const version = 3;\nexport function help() {}\n`,
  });
  const { tools } = await effective(bundle);
  assert.deepEqual(tools, [
    {
      name: 'add',
      description: 'Adds.',
      inputSchema: {
        additionalProperties: false,
        properties: { a: { default: 1, type: 'number' }, b: { type: 'number' } },
        required: ['b'],
        type: 'object',
      },
      effect: 'once',
      group: 'sums',
    },
    {
      name: 'echo',
      description: 'Says it again.',
      inputSchema: { properties: { text: { type: 'string' } }, required: ['text'], type: 'object' },
      effect: 'read',
      group: 'sums',
    },
  ]);
});

test('a module may export its tools as a list', async () => {
  const bundle = await load(granted('{name: sums, kind: module, module: ./sums.js}'), {
    'sums.js': `${raw.replace('export const echo', 'const echo')}export const tools = [echo];`,
  });
  assert.deepEqual(
    (await effective(bundle)).tools.map(({ name }) => name),
    ['echo'],
  );
});

test('a tool is checked by its schema and run with the defaults of its author', async () => {
  const bundle = await load(granted('{name: sums, kind: module, module: ./sums.ts}'), {
    'sums.ts': `${imports}${add}${raw}`,
  });
  const sum = await tool(bundle, 'add');
  assert.deepEqual(sum.validate({ b: '2', c: 1 }), ['/b: wanted number, found string "2"', '/c: not a known name']);
  assert.equal(sum.run({ b: 2 }, aContext()), 3);
  const echo = await tool(bundle, 'echo');
  assert.deepEqual(echo.validate({}), ['/text: wanted string, found nothing']);
  assert.deepEqual(echo.run({ text: 'a' }, aContext()), { text: 'a' });
});

test('a value that is not what the tool declares is a failure that says so', async () => {
  const bundle = await load(granted('{name: odd, kind: module, module: ./odd.ts}'), {
    'odd.ts': `${imports}export const odd = defineTool({
      name: 'odd', description: 'Odd.', input: z.object({ async: z.boolean() }), output: z.string(),
      run: (args) => args.async ? Promise.resolve(toolResult({ value: 5 })) : toolFailure('none', 'Nothing.'),
    });`,
  });
  const odd = await tool(bundle, 'odd');
  assert.deepEqual(odd.run({ async: false }, aContext()), { kind: 'failure', code: 'none', message: 'Nothing.' });
  assert.deepEqual(await odd.run({ async: true }, aContext()), {
    kind: 'failure',
    code: 'bad_output',
    message: 'The tool ran and returned something else than it declares: /: wanted string, found number 5',
  });
});

test('allowed leaves out the rest of a group, and traits stand over what a tool says of itself', async () => {
  const bundle = await load(
    granted(
      '{name: clock, kind: module, module: builtin/time, allowed: [time_now], tool_traits: {time_now: {effect: idempotent, approval: ask, timeout_ms: 0, repeatable: false}}}',
    ),
  );
  const [now, ...others] = (await effective(bundle)).tools;
  assert.deepEqual(others, []);
  assert.deepEqual(
    [now?.effect, now?.approval, now?.timeoutMs, now?.repeatable, now?.group],
    ['idempotent', 'ask', 0, false, 'clock'],
  );
});

test('two groups with a tool of the same name take their aliases along', async () => {
  const entry = (alias: string) =>
    `{name: time, alias: ${alias}, kind: module, module: builtin/time, allowed: [time_now]}`;
  const bundle = await load(granted(entry('here'), entry('there')));
  assert.deepEqual(
    (await effective(bundle)).tools.map(({ name, group }) => [name, group]),
    [
      ['here_time_now', 'here'],
      ['there_time_now', 'there'],
    ],
  );
});

test('the order of the groups in a file is no part of the agent', async () => {
  const math = '{name: math, kind: module, module: builtin/math}';
  const time = '{name: time, kind: module, module: builtin/time}';
  const tools = async (...entries: string[]) => (await effective(await load(granted(...entries)))).tools;
  assert.deepEqual(await tools(math, time), await tools(time, math));
});

test('a tool is compiled once, however many bundles grant it', async () => {
  const yaml = granted('{name: math, kind: module, module: builtin/math}');
  const [one, other] = [await tool(await load(yaml), 'calculate'), await tool(await load(yaml), 'calculate')];
  assert.equal(one.definition.inputSchema, other.definition.inputSchema);
});

test('an edited module is loaded anew with its bundle', async () => {
  const yaml = granted('{name: sums, kind: module, module: ./sums.ts}');
  await inFolder(yaml, { 'sums.ts': `${imports}${add}` }, async (file, folder) => {
    const before = await loadBundle(file, loadOptions);
    writeFileSync(path.join(folder, 'sums.ts'), `${imports}${add.replace('a + b', 'a - b')}`);
    const after = await loadBundle(file, loadOptions);
    assert.notEqual(after.revision, before.revision);
    const results = [await tool(before, 'add'), await tool(after, 'add')].map((one) => one.run({ b: 3 }, aContext()));
    assert.deepEqual(results, [4, -2]);
  });
});

test('a tool that is gone, or belongs to another group by now, has no hands', async () => {
  const before = await effective(await load(granted('{name: a, kind: module, module: builtin/math}')));
  const after = await load(granted('{name: b, kind: module, module: builtin/math}'));
  assert.deepEqual([...after.agentSource().tools(before).keys()], []);
});

const bad: readonly (readonly [title: string, source: string, says: string])[] = [
  [
    'that exports nothing',
    'export const x = 1;',
    'found "./t.ts", which exports no tool, wanted exported tools, or a list of them called tools; write export const add = defineTool({ … }) (tool_module)',
  ],
  [
    'that throws',
    "throw new Error('no disk');",
    'found "./t.ts", which fails: no disk, wanted a module that can be imported (tool_module)',
  ],
  [
    'with a tool of a bad name',
    `${imports}${add.replace("'add'", "'add two'")}`,
    '"./t.ts" add: found the name string "add two", wanted a name of at most 64 letters, digits, _ and - (tool_module)',
  ],
  [
    'with two tools of one name',
    `${imports}${add}${raw.replace("'echo'", "'add'")}`,
    'found "./t.ts" with two tools called add, wanted one (tool_module)',
  ],
  [
    'with a tool without a description',
    raw.replace("'Says it again.'", "''"),
    '"./t.ts" echo: found echo with description string "", wanted a sentence (tool_module)',
  ],
  [
    'with a tool of an unknown effect',
    raw.replace("'read'", "'write'"),
    '"./t.ts" echo: found echo with effect string "write", wanted read, idempotent, once (tool_module)',
  ],
  [
    'with a tool that cannot run',
    raw.replace('(args) => args', '1'),
    '"./t.ts" echo: found echo with run number 1, wanted a function (tool_module)',
  ],
  [
    'with a tool that takes a list',
    `${imports}${add.replace(/z\.strictObject\(.*\)/, 'z.array(z.number())')}`,
    '"./t.ts" add: found an input of type "array", wanted an object, as every provider does (tool_schema)',
  ],
  [
    'with a tool that takes a date',
    `${imports}${add.replace('z.number()', 'z.date()')}`,
    '"./t.ts" add: found Date cannot be represented in JSON Schema, wanted an input that JSON can say; a date, for one, is a z.iso.datetime() (tool_schema)',
  ],
  [
    'with a schema that points elsewhere',
    raw.replace("{ type: 'string' }", "{ $ref: 'https://example.com/x' }"),
    '"./t.ts" echo: found can\'t resolve reference https://example.com/x from id #, wanted a JSON Schema (2020-12) without references to other documents (tool_schema)',
  ],
];

for (const [title, source, says] of bad) {
  test(`a module is refused ${title}`, async () => {
    const said = await problemsOf(granted('{name: t, kind: module, module: ./t.ts}'), { 't.ts': source });
    const place = 'app.yaml:6:37  surfaces.as_consumer.agents.main.tools[0].module: ';
    assert.equal(said.startsWith(place) ? said.slice(place.length) : said, says);
  });
}

test('tools of an installed package are found from the folder of the bundle', async () => {
  const bundle = await load(granted('{name: echo, kind: module, module: "@acme/tools"}'), {
    'node_modules/@acme/tools/package.json': '{"name":"@acme/tools","type":"module","exports":"./index.js"}',
    'node_modules/@acme/tools/index.js': raw,
  });
  assert.deepEqual(
    (await effective(bundle)).tools.map(({ name }) => name),
    ['echo'],
  );
});
