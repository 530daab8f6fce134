// AG-UI as front ends speak it: through the protocol's own client, which checks the order of every event.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { EventType, HttpAgent, type BaseEvent, type Message } from '@ag-ui/client';
import { aServer, linesFile, type Served } from './server.ts';

interface Page {
  readonly agent: HttpAgent;
  /** Every event of the last exchange. */
  readonly events: BaseEvent[];
  run(more?: Parameters<HttpAgent['runAgent']>[0]): Promise<readonly Message[]>;
  say(text: string, id?: string): Promise<readonly Message[]>;
}

function aPage({ url }: Pick<Served, 'url'>, { threadId = 'page-1', key = '', agent: name = 'main' } = {}): Page {
  const agent = new HttpAgent({
    url: `${url}/ag-ui/${name}`,
    threadId,
    ...(key !== '' && { headers: { Authorization: `Bearer ${key}` } }),
  });
  const events: BaseEvent[] = [];
  let said = 0;
  const page: Page = {
    agent,
    events,
    async run(more = {}) {
      events.length = 0;
      const { newMessages } = await agent.runAgent(more, { onEvent: ({ event }) => void events.push(event) });
      return newMessages;
    },
    say(text, id = `message-${++said}`) {
      agent.addMessage({ id, role: 'user', content: text });
      return page.run();
    },
  };
  return page;
}

function types(events: readonly BaseEvent[]): string {
  return events.flatMap(({ type }) => (type === EventType.CUSTOM ? [] : [type])).join(' ');
}

function interruptsOf(events: readonly BaseEvent[]): readonly { id: string; reason: string; toolCallId?: string }[] {
  const outcome = events.at(-1)?.['outcome'] as { interrupts?: never[] } | undefined;
  return outcome?.interrupts ?? [];
}

function texts(messages: readonly Message[]): readonly string[] {
  return messages.map(({ role, content }) => `${role}: ${typeof content === 'string' ? content : '…'}`);
}

test('what is said is answered, and streamed word by word', async (t) => {
  const page = aPage(await aServer(t));
  const messages = await page.say('story');
  assert.equal(messages.length, 1);
  assert.match(texts(messages)[0] ?? '', /^assistant: A first line .*The \*\*end\*\*\.$/s);
  assert.ok(page.events.filter(({ type }) => type === EventType.TEXT_MESSAGE_CONTENT).length > 1);
  assert.deepEqual(page.events.at(-1)?.['outcome'], { type: 'success' });
});

test('the thread is one run, turn after turn, and the page sends its whole history each time', async (t) => {
  const server = await aServer(t);
  const page = aPage(server);
  await page.say('one');
  assert.deepEqual(texts(await page.say('two')), ['assistant: You said: two']);
  const { body } = await server.call('GET', '/api/v1/runs');
  assert.equal((body['runs'] as readonly unknown[]).length, 1);
  assert.equal(page.agent.messages.length, 4);
});

test('a message that is sent again is not said again, and what came of it is told again', async (t) => {
  const server = await aServer(t);
  await aPage(server).say('one', 'm1');
  const again = aPage(server);
  await again.say('one', 'm1');
  await again.say('two', 'm2');
  const last = aPage(server);
  last.agent.setMessages(again.agent.messages.slice(0, 3));
  await last.run();
  assert.deepEqual(texts(last.agent.messages), [
    'user: one',
    'assistant: You said: one',
    'user: two',
    'assistant: You said: two',
  ]);
});

test('an action that needs leave ends the exchange with an interrupt, and its answer goes on', async (t) => {
  const file = linesFile(t);
  const page = aPage(await aServer(t));
  await page.say(`write ${file}`);
  assert.equal(
    types(page.events).replaceAll(/REASONING_MESSAGE_CONTENT |TOOL_CALL_ARGS /g, ''),
    'RUN_STARTED STEP_STARTED REASONING_START REASONING_MESSAGE_START TOOL_CALL_START REASONING_MESSAGE_END REASONING_END STEP_FINISHED TOOL_CALL_END RUN_FINISHED',
  );
  const [interrupt] = interruptsOf(page.events);
  const call = page.events.find(({ type }) => type === EventType.TOOL_CALL_START);
  assert.deepEqual([interrupt?.reason, interrupt?.toolCallId], ['tool_call', call?.['toolCallId']]);
  assert.ok(!existsSync(file));

  const messages = await page.run({
    resume: [{ interruptId: interrupt?.id ?? '', status: 'resolved', payload: { approved: true } }],
  });
  assert.deepEqual(texts(messages), ['tool: {"ok":true,"ret":{"lines":1}}', 'assistant: The tool said: 1']);
  assert.equal(readFileSync(file, 'utf8'), 'one\n');
});

test('edited arguments replace the model’s, and a refusal reaches it as the result', async (t) => {
  const [file, other] = [linesFile(t), linesFile(t)];
  const server = await aServer(t);
  const editor = aPage(server);
  await editor.say(`write ${file}`);
  const payload = { approved: true, editedArgs: { file: other, line: 'changed' } };
  await editor.run({
    resume: [{ interruptId: interruptsOf(editor.events)[0]?.id ?? '', status: 'resolved', payload }],
  });
  assert.deepEqual([existsSync(file), readFileSync(other, 'utf8')], [false, 'changed\n']);

  const refuser = aPage(server, { threadId: 'page-2' });
  await refuser.say(`write ${file}`);
  const messages = await refuser.run({
    resume: [{ interruptId: interruptsOf(refuser.events)[0]?.id ?? '', status: 'cancelled' }],
  });
  assert.match(texts(messages)[0] ?? '', /"ok":false/);
  assert.ok(!existsSync(file));
});

test('a question is an interrupt that wants input', async (t) => {
  const page = aPage(await aServer(t));
  await page.say('colour');
  const [interrupt] = interruptsOf(page.events);
  assert.equal(interrupt?.reason, 'input_required');
  const messages = await page.run({
    resume: [{ interruptId: interrupt.id, status: 'resolved', payload: { text: 'blue' } }],
  });
  assert.equal(texts(messages).at(-1), 'assistant: You like blue.');
});

test('an answer sent twice counts once', async (t) => {
  const file = linesFile(t);
  const server = await aServer(t);
  const page = aPage(server);
  await page.say(`write ${file}`);
  const id = interruptsOf(page.events)[0]?.id ?? '';
  const resume = [{ interruptId: id, status: 'resolved' as const, payload: { approved: true } }];
  await page.run({ resume });
  const body = { threadId: 'page-1', runId: 'again', messages: [], tools: [], context: [], resume };
  const reply = await fetch(page.agent.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.match(await reply.text(), /"type":"success"/);
  assert.equal(readFileSync(file, 'utf8'), 'one\n');
});

test('what is said while an interrupt is open is refused as the protocol wants it', async (t) => {
  const page = aPage(await aServer(t));
  await page.say('colour');
  const other = aPage({ url: page.agent.url.replace('/ag-ui/main', '') });
  await other.say('never mind', 'm-9').catch(() => undefined);
  const last = other.events.at(-1);
  assert.deepEqual([last?.type, last?.['code']], [EventType.RUN_ERROR, 'ambiguous_request']);
});

test('a run that fails ends with an error, and an unknown agent too', async (t) => {
  const server = await aServer(t);
  const page = aPage(server);
  await page.say('fail').catch(() => undefined);
  assert.equal(page.events.at(-1)?.type, EventType.RUN_ERROR);
  const nobody = aPage(server, { agent: 'nobody', threadId: 'page-3' });
  await nobody.say('hello').catch(() => undefined);
  assert.equal(nobody.events.at(-1)?.['code'], 'agent_unknown');
});

test('a page that goes away stops nothing, and comes back to what has happened', async (t) => {
  const server = await aServer(t);
  const page = aPage(server);
  const leave = new AbortController();
  page.agent.addMessage({ id: 'm1', role: 'user', content: 'story' });
  const input = { threadId: 'page-1', runId: 'r1', messages: page.agent.messages, tools: [], context: [] };
  const reply = await fetch(page.agent.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
    signal: leave.signal,
  });
  await reply.body?.getReader().read();
  leave.abort();
  assert.match(texts(await page.run()).join(), /^assistant: A first line/);
  assert.deepEqual(page.events.at(-1)?.['outcome'], { type: 'success' });
});

test('a run that was begun elsewhere is a thread by its id', async (t) => {
  const server = await aServer(t);
  const id = await server.begin('one');
  await server.rest(id);
  const page = aPage(server, { threadId: id });
  assert.deepEqual(texts(await page.say('two')), ['assistant: You said: two']);
});

test('keys and scopes count here as everywhere', async (t) => {
  const server = await aServer(t);
  const reader = await server.key({ scopes: ['read'] });
  const status = async (key: string): Promise<number> =>
    (await server.call('POST', '/ag-ui/main', { body: {}, ...(key !== '' && { as: key }) })).status;
  assert.deepEqual([await status(''), await status(reader)], [401, 403]);
  assert.equal(await status(await server.key()), 422);
});
