// Triggers of faults that other runtimes had, by the ids of the shared list, with what is right: the cache and narrowing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billedUsage } from '../../src/adapters/models/billed-usage.ts';
import { announce } from '../../src/assembly/announce.ts';
import { allocate } from '../../src/assembly/checkpoints.ts';
import { effectiveAgentOf } from '../../src/assembly/effective.ts';
import { catalogueText, messageText, systemText } from '../../src/assembly/message-text.ts';
import { cacheProfile } from '../../src/domain/cache-profile.ts';
import type { Message, ModelRequest } from '../../src/domain/model.ts';
import { emptySelection } from '../../src/domain/selection.ts';
import { mergeSelection } from '../../src/domain/selection-patch.ts';
import { inputTokens } from '../../src/domain/usage-sum.ts';
import { ioGroup } from '../../src/plugins/tools/io.ts';
import { toolboxGroup } from '../../src/plugins/tools/toolbox.ts';
import { aTalk, effective, load } from '../support/bundles.ts';
import { aHouse, aTool, type House } from '../support/house.ts';
import { ok, said, spoke } from '../support/streams.ts';
import { runTool } from '../support/tool-context.ts';
import { aGrant, aTool as granted, declaredAgent } from './grants.ts';

const anthropic = cacheProfile({ provider: 'anthropic', model: 'claude-sonnet-4-5' });
const long = 'so '.repeat(3_000);

const wide = (calls: number): Message[] => [
  {
    role: 'assistant',
    content: Array.from({ length: calls }, (_, index) => ({
      type: 'action' as const,
      id: `a${index}`,
      name: 'look',
      arguments: {},
    })),
  },
  {
    role: 'tool',
    results: Array.from({ length: calls }, (_, index) => ({ id: `a${index}`, name: 'look', observation: ok(1) })),
  },
];

test('B082: one allocator places at most four markers, and reports what it left out', () => {
  const messages = [said(long), spoke(long), said(long), ...wide(30), ...wide(1), ...wide(1)];
  const ends = { past: 2, requests: [3, 5, 7] };
  const { placed, left } = allocate({ instructions: long, tools: [], messages }, ends, { ...anthropic, lookBack: 1 });
  assert.equal(placed.length, 4);
  assert.deepEqual(
    left.map(({ why }) => why),
    ['the provider takes 4 markers'],
  );
});

test('B086: after a wide turn, where the last request ended is marked too, so that it is found', () => {
  const messages = [said(long), ...wide(12)];
  const { placed } = allocate({ instructions: long, tools: [], messages }, { past: 0, requests: [1] }, anthropic);
  assert.ok(placed.some(({ place, message }) => place === 'last_tail' && message === 0));
});

async function prompts(house: House, texts: readonly string[]): Promise<ModelRequest[]> {
  const seen: ModelRequest[] = [];
  house.bus.before('before:llm.request', ({ request }) => void seen.push(request));
  for (const text of texts) await house.ask(text);
  return seen;
}
const cached = (request: ModelRequest): string =>
  [catalogueText(request.tools), systemText(request), ...request.messages.map(messageText)].join('\n');

test('B083: what changes with time, process and user comes after everything that is cached', async () => {
  const made = async (now: number): Promise<string[]> => {
    const clock = { now: () => now, after: () => () => undefined };
    const house = aHouse({ clock, script: [{ text: 'Hi.' }], agent: { timeZone: 'Europe/Oslo' } });
    return (await prompts(house, ['hello', 'and now?'])).map(cached);
  };
  assert.deepEqual(await made(Date.UTC(2026, 0, 5)), await made(Date.UTC(2027, 5, 6, 7)));
});

test('B084: tools that are registered in any order are the same bytes, keys of their schemas too', async () => {
  const yaml = (groups: readonly string[]) => `
id: app
config: { react: { main: { system_prompt: Hi. } } }
surfaces: { as_consumer: { agents: { main: { tools: [${groups.map((name) => `{ name: ${name}, kind: module, module: ./${name}.js }`).join(', ')}] } } } }
models: { balanced: { provider: scripted, script: s.json } }
`;
  const tool = (name: string, schema: string) =>
    `export const ${name} = { name: '${name}', description: '${name}.', input: ${schema}, run: () => 1 };`;
  const [one, other] = [
    "{ type: 'object', properties: { a: {}, b: {} } }",
    "{ properties: { b: {}, a: {} }, type: 'object' }",
  ];
  const files = (schema = one) => ({
    's.json': '[{"text":"Hi."}]',
    'x.js': tool('xa', schema),
    'y.js': tool('yb', schema),
  });
  const texts = [
    await effective(await load(yaml(['x', 'y']), files())),
    await effective(await load(yaml(['y', 'x']), files(other))),
  ].map(({ tools }) => catalogueText(tools));
  assert.equal(texts[0], texts[1]);
});

test('B085: a server that is late changes no byte of what was said; announce tells that its tools are out', async () => {
  let turns = 0;
  const late = { name: 'kb_fetch', why: 'the MCP server kb has not been asked yet' };
  const fetch = aTool('kb_fetch', () => 1);
  const house = aHouse({
    tools: [fetch],
    script: ({ userText }) => ({ text: userText }),
    change: () => (turns++ === 0 ? { tools: [], inactive: [late] } : {}),
  });
  const [first, second] = await prompts(house, ['one', 'two']);
  assert.match(
    first?.announce ?? '',
    /\[INACTIVE TOOLS THIS TURN\]\n- kb_fetch: the MCP server kb has not been asked yet/,
  );
  assert.doesNotMatch(second?.announce ?? '', /INACTIVE/);
  const [before, after] = [first, second].map((request) => request?.messages.map(messageText) ?? []);
  assert.deepEqual(after?.slice(0, before?.length), before);
});

test('B088: input is told in parts that add up to what the provider counted', () => {
  const usage = billedUsage({
    inputTokens: { total: 70_838, noCache: 933, cacheRead: 69_905, cacheWrite: undefined },
    outputTokens: { total: 12, text: 12, reasoning: undefined },
    raw: { promptTokenCount: 70_838, cachedContentTokenCount: 69_905 },
  });
  assert.deepEqual([usage.input, usage.cacheRead, inputTokens(usage)], [933, 69_905, 70_838]);
});

test('B121: a deferred tool that was not found is refused, and nothing runs', async () => {
  let ran = 0;
  const send = aTool('send', () => ran++, { deferred: true });
  const house = aHouse({
    tools: [send],
    agent: { deferral: 'own' },
    script: ({ step }) => (step === 0 ? { actions: [{ name: 'send' }] } : { text: 'No.' }),
  });
  const { turns } = await house.ask('go');
  const [state] = turns.at(-1)?.iterations.at(0)?.actions ?? [];
  assert.deepEqual([state?.observation?.outcome, state?.observation?.error?.code, ran], ['refused', 'not_loaded', 0]);
});

test('B122, B124: what is off is neither listed, nor described, nor found, nor called', async () => {
  const many = Array.from({ length: 248 }, (_, index) => granted(`t${index}`, { deferred: true }));
  const box = ['tool_search', 'tool_use'].map((own) => granted(own, { group: 'toolbox', own, locked: true }));
  const off = mergeSelection(emptySelection, { disabled: { tools: { web: ['t7'] } } });
  const grant = aGrant([...many, ...box], { models: [{ provider: 'scripted', model: 'scripted' }] });
  const { agent } = effectiveAgentOf(declaredAgent(grant), off, {});
  const conversation = aTalk([
    { type: 'io.input', payload: { text: 'hi', mode: 'message' } },
    { type: 'agent.turn.start', payload: { agent, digest: 'd' } },
    { type: 'tool.loaded', payload: { tools: ['t7'] } },
  ]);
  const found = await runTool(toolboxGroup, 'tool_search', { query: 't7' }, { conversation });
  const told = await runTool(ioGroup, 'tool_call', { name: 't7' }, { conversation });
  assert.deepEqual((found as { loads: string[] }).loads.includes('t7'), false);
  assert.equal((told as { code: string }).code, 'inactive');
  assert.equal(
    agent.tools.some(({ name }) => name === 't7'),
    false,
  );
  assert.match(announce(conversation, 0) ?? '', /- t7: switched off by the user/);
});

test('B122, B124: and is not called, also where it had been found before', async () => {
  let ran = 0;
  const house = aHouse({
    tools: [aTool('send', () => ran++, { deferred: true })],
    agent: { deferral: 'own' },
    change: () => ({ tools: [], inactive: [{ name: 'send', why: 'switched off by the user' }] }),
    script: ({ step }) => (step === 0 ? { actions: [{ name: 'send' }] } : { text: 'No.' }),
  });
  await house.post({ type: 'tool.loaded', payload: { tools: ['send'] } });
  const { turns } = await house.ask('go');
  const [state] = turns.at(-1)?.iterations.at(0)?.actions ?? [];
  assert.deepEqual([state?.observation?.error?.code, ran], ['not_allowed', 0]);
});

test('B125: what is denied is off whoever granted it, and an unknown name does no harm', () => {
  const grant = aGrant([granted('a'), granted('shell', { group: 'builtin' })]);
  const off = mergeSelection(emptySelection, { disabled: { tools: { builtin: true, gone: true, web: ['nothing'] } } });
  assert.deepEqual(
    effectiveAgentOf(declaredAgent(grant), off, {}).agent.tools.map(({ name }) => name),
    ['a'],
  );
});

test('B141: a provider that masks keeps its catalogue byte for byte, and dispatch goes by what is effective', () => {
  const models = [{ provider: 'openai', model: 'gpt-5.2' }];
  const grant = aGrant([granted('a'), granted('b'), granted('c')], { models });
  const off = mergeSelection(emptySelection, { disabled: { tools: { web: ['b', 'c'] } } });
  const [all, one] = [emptySelection, off].map(
    (selection) => effectiveAgentOf(declaredAgent(grant), selection, {}).agent,
  );
  assert.equal(catalogueText(one?.listed ?? []), catalogueText(all?.tools ?? []));
  assert.deepEqual(
    one?.tools.map(({ name }) => name),
    ['a'],
  );
});
