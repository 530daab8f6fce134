import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { announce } from '../../src/assembly/announce.ts';
import { transcript } from '../../src/assembly/transcript.ts';
import type { Draft } from '../../src/domain/event.ts';
import { toJson } from '../../src/base/json.ts';
import { emptySelection } from '../../src/domain/selection.ts';
import { mergeSelection } from '../../src/domain/selection-patch.ts';
import { messageText } from '../../src/assembly/message-text.ts';
import { aMeta, aTalk, load, problemsOf } from '../support/bundles.ts';
import { aHouse, aTool, lastOf } from '../support/house.ts';
import { brokenMessages, brokenPrefix } from '../support/invariants.ts';
import { aServer } from '../http/server.ts';

const EVENTS = path.join(import.meta.dirname, '../golden/events/bundle.yaml');
const API = '/api/v1';

const yaml = (source: string, allowed = 'event.list') => `
id: app
config: { react: { main: { system_prompt: Hi. } } }
surfaces:
  as_consumer:
    agents:
      main:
        tools: [{ name: board, kind: named_service, namespaces: { task: { allowed: [${allowed}] } } }]
        event_sources: [${source}]
    named_services: { task: { kind: module, module: ./board.js } }
models: { balanced: { provider: scripted, script: s.json } }
`;
const pull = (more = '') => `{ kind: named_service, namespace: task, policies: { pull: { timeout_ms: 100${more} } } }`;
const files = (run: string) => ({
  's.json': '[{"text":"Hi."}]',
  'board.js': `export const service = { operations: {
    'event.list': { description: 'Events.', input: { type: 'object' }, run: ${run} },
    'task.close': { description: 'Closes.', effect: 'once', input: { type: 'object' }, run: () => 1 },
  } };`,
});

async function pulled(
  run: string,
  more = '',
  facts: readonly Draft[] = [],
  record?: object,
): Promise<readonly unknown[]> {
  const bundle = await load(yaml(pull(more)), files(run));
  const store =
    record === undefined
      ? undefined
      : { readSelection: () => ({ value: toJson(record), revision: 1 }), writeSelection: () => true };
  const { facts: told } = await bundle.agentSource(store).assemble(aMeta('main'), aTalk(facts));
  return told.filter(({ type }) => type.startsWith('source.')).map(({ payload }) => payload);
}

test('a service is asked from where the log says that the last reading ended', async () => {
  const cursor: Draft = { type: 'source.pulled', payload: { source: 'task', cursor: 'c7' } };
  const echo = '({ cursor, limit }) => ({ events: [{ id: "a", text: `${cursor} ${limit}` }], cursor: "c8" })';
  assert.deepEqual(await pulled(echo, ', max_events: 3', [cursor]), [
    { source: 'task', id: 'a', text: 'c7 3' },
    { source: 'task', cursor: 'c8' },
  ]);
});

test('no more is taken than there is room for, and the place is kept where something was left', async () => {
  const many = '() => ({ events: [1, 2, 3].map((n) => ({ id: `e${n}`, text: "x".repeat(150) })), cursor: "end" })';
  const cut = { source: 'task', isCut: true };
  assert.deepEqual((await pulled(many, ', max_events: 2')).slice(2), [cut]);
  assert.deepEqual((await pulled(many, ', max_bytes: 200')).slice(1), [cut]);
});

for (const [what, run, why] of [
  ['throws', '() => { throw new Error("no board") }', /failed \(no board\)/],
  ['hangs', '() => new Promise(() => undefined)', /did not answer in 100 ms/],
  ['answers nonsense', '() => 7', /no list of events/],
] as const) {
  test(`a service that ${what} is said, and the turn begins`, async () => {
    const [said, ...more] = (await pulled(run)) as { error: string }[];
    assert.match(said?.error ?? '', why);
    assert.deepEqual(more, []);
  });
}

test('events of any shape are told as text, and what comes twice has one id', async () => {
  const odd =
    '() => ["plain", { at: "2026-01-05T08:00:00Z", what: 1 }, { id: "", text: "t", at: "never" }, null, "plain"]';
  const told = (await pulled(odd)) as { id: string; text: string; at?: number }[];
  assert.deepEqual(
    told.map(({ text, at }) => [text, at]),
    [
      ['plain', undefined],
      ['{"at":"2026-01-05T08:00:00Z","what":1}', Date.UTC(2026, 0, 5, 8)],
      ['t', undefined],
      ['null', undefined],
      ['plain', undefined],
    ],
  );
  assert.equal(told[0]?.id, told[4]?.id);
});

test('a service that the user switched off is not asked', async () => {
  const record = mergeSelection(emptySelection, { disabled: { named_services: { task: true } } });
  assert.deepEqual(await pulled('() => ["x"]', '', [], record), []);
});

test('only a granted service is heard, and only an operation that reads is called', async () => {
  const says = (source: string, allowed?: string) => problemsOf(yaml(source, allowed), files('() => []'));
  assert.match(await says('{ kind: named_service, namespace: mail }'), /mail.*not granted/);
  assert.match(await says(pull(', operation: task.close')), /task\.close, which does more than read/);
  assert.match(await says(pull(', operation: event.lst')), /no operation event\.lst.*event\.list/);
  assert.equal(await says(pull(), 'task.close'), '', 'the model need not be granted what is asked for events');
});

test('what is told in mid-turn is read before the next model call, and no byte before it changes', async () => {
  const prompts: (readonly string[])[] = [];
  const house = aHouse({
    tools: [
      aTool('look', async () => {
        await house.post({ type: 'source.event', payload: { source: 'task', id: 'e1', text: 'The fence fell.' } });
        return 'seen';
      }),
    ],
    script: ({ step, request }) => {
      prompts.push(request.messages.map(messageText));
      assert.deepEqual(brokenMessages(request.messages), []);
      return step === 0 ? { actions: [{ name: 'look' }] } : { text: 'I saw.' };
    },
  });
  await house.ask('go');
  await house.ask('and now?');
  assert.deepEqual(
    prompts.map((lines) => lines.findIndex((line) => line.includes('[EVENT task]\nThe fence fell.'))),
    [-1, 3, 3, 3],
  );
  for (const [index, lines] of prompts.entries())
    assert.deepEqual(prompts[index + 1]?.slice(0, lines.length) ?? lines, lines);
});

test('what is told while nobody is at work begins the next turn, and no turn begins by it', async () => {
  const house = aHouse({ script: ({ userText }) => ({ text: userText }) });
  await house.ask('one');
  for (const id of ['a', 'b'])
    await house.post({ type: 'source.event', payload: { source: 'task', id, text: id }, key: `task/${id}` });
  await house.post({ type: 'source.event', payload: { source: 'task', id: 'a', text: 'a' }, key: 'task/a' });
  assert.equal((await house.drive()).turns.length, 1);
  await house.say('two');
  await house.drive();
  const told = transcript(await house.fold(), { provider: 'scripted', model: 'scripted' }).map(messageText);
  assert.deepEqual(told.slice(2, 5), [
    'user: two',
    'user (synthetic): [EVENT task]\na',
    'user (synthetic): [EVENT task]\nb',
  ]);
  assert.match((await lastOf(house, 'llm.request'))?.announce ?? '', /task told the 2 events above: material/);
});

test('an event that comes between two attempts stands before the answer, as it was sent', async () => {
  let attempt = 0;
  const sent: (readonly string[])[] = [];
  const house = aHouse({
    script: ({ request }) => {
      sent.push(request.messages.map(messageText));
      return attempt++ === 0 ? { fault: 'context_length' } : { text: 'Now.' };
    },
    plugins: (bus) => {
      bus.answer('memory.compact.request', async () => {
        await house.post({ type: 'source.event', payload: { source: 'task', id: 'e', text: 'Rain.' } });
        return { through: 1, summary: 'so' };
      });
    },
  });
  await house.ask('go');
  await house.ask('again');
  const folded = transcript(await house.fold(), { provider: 'scripted', model: 'scripted' });
  assert.equal(brokenPrefix(folded.slice(0, 2), folded), undefined);
  const second = sent[1] ?? [];
  assert.deepEqual(folded.map(messageText).slice(0, second.length + 1), [...second, 'assistant: Now.']);
});

test('nothing is announced where nothing happened', () => {
  const talk = aTalk([{ type: 'io.input', payload: { text: 'hi', mode: 'message' } }]);
  assert.equal(announce(talk, 0), undefined);
});

test('events are handed in through the API once each, to an agent that listens and to no other', async (t) => {
  const served = await aServer(t, { bundles: [EVENTS] });
  const id = await served.begin('What is new?');
  await served.rest(id);
  const tell = (source: string, events: readonly object[] = [{ id: 'p1', text: 'Cy came.' }]) =>
    served.call('POST', `${API}/runs/${id}/events`, { body: { source, events } });
  for (const _ of [1, 2]) assert.equal((await tell('task')).status, 200);
  assert.deepEqual([(await tell('board')).status, (await tell('board')).code], [404, 'event_source_unknown']);
  assert.equal((await tell('task', [])).status, 422);
  await served.call('POST', `${API}/runs/${id}/messages`, { body: { content: 'And now?' } });
  await served.rest(id);
  const { body } = await served.call('GET', `${API}/runs/${id}/prompts/1?turn=2`);
  const { messages } = body;
  assert.equal(JSON.stringify(messages).split('Cy came.').length - 1, 1);
  const reader = await served.key({ scopes: ['read'] });
  const refused = await served.call('POST', `${API}/runs/${id}/events`, {
    body: { source: 'task', events: [{ text: 'x' }] },
    as: reader,
  });
  assert.equal(refused.code, 'insufficient_scope');
});
