// Triggers of faults that other runtimes had, by the ids of the shared list, with what is right.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transcript } from '../../src/assembly/transcript.ts';
import { fold } from '../../src/domain/fold.ts';
import { deny, hold } from '../../src/kernel/verdict.ts';
import type { Log } from '../../src/kernel/log.ts';
import type { Model, ModelSource, ModelStream } from '../../src/kernel/model.ts';
import type { ModelPart } from '../../src/domain/model.ts';
import type { Draft } from '../../src/domain/event.ts';
import { aHouse, aSignal, aTool, anAgent, lastOf, settle, type House } from '../support/house.ts';
import { Crash, dyingLog } from '../support/crash-log.ts';
import { brokenMessages } from '../support/invariants.ts';
import { aClock } from '../support/sim-clock.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';

const scripted = { provider: 'scripted', model: 'scripted' };
const echo = aTool('echo', (args) => args);

/** A model that answers each call with the parts given, for streams that no script can author. */
function partsModel(...calls: readonly (readonly ModelPart[])[]): ModelSource {
  let call = 0;
  const model: Model = {
    call(): ModelStream {
      const parts = [...(calls[Math.min(call++, calls.length - 1)] ?? [])];
      return { next: () => parts.shift(), close: () => undefined };
    },
  };
  return { open: () => model };
}

const finish: ModelPart = { type: 'finish', stop: 'finished', usage: {} };
const text = (words: string, part = '1'): ModelPart[] => [
  { type: 'start', kind: 'text', part },
  { type: 'delta', part, delta: words },
  { type: 'end', part },
];

function results(source: Awaited<ReturnType<House['fold']>>): (string | undefined)[] {
  return transcript(source, scripted).flatMap((message) =>
    message.role === 'tool' ? message.results.map((one) => one.observation.error?.code ?? one.observation.outcome) : [],
  );
}

async function folded(drafts: readonly Draft[]): Promise<Awaited<ReturnType<House['fold']>>> {
  const house = aHouse();
  for (const draft of drafts) await house.post(draft);
  return house.fold();
}

const agent = anAgent([echo]);
const started: Draft[] = [
  { type: 'io.input', payload: { text: 'go', mode: 'message' } },
  { type: 'agent.turn.start', payload: { agent, digest: 'd' } },
  { type: 'llm.request', payload: { model: scripted, role: 'balanced', attempt: 1 } },
];
const responded = (
  content: Extract<Draft, { type: 'llm.response' }>['payload']['content'],
  stop: 'actions' | 'finished' | 'paused' = 'actions',
): Draft => ({ type: 'llm.response', payload: { content, stop, usage: {}, attempt: 1 } });
const call = (id: string): { type: 'action'; id: string; name: string; input: string } => ({
  type: 'action',
  id,
  name: 'echo',
  input: '{}',
});

test('B002 B038 a call of a provider’s own tool without its result is left out, and goes out again while the provider is at it', async () => {
  const server = {
    type: 'provider' as const,
    kind: 'server_tool',
    role: 'call' as const,
    call: 's1',
    data: { q: 'x' },
  };
  const open = await folded([...started, responded([{ type: 'text', text: 'looking' }, server], 'paused')]);
  const left = await folded([
    ...started,
    responded([{ type: 'text', text: 'looking' }, server], 'paused'),
    {
      type: 'agent.turn.end',
      payload: { status: 'stopped', stop: 'cancelled', iterations: 1, toolCalls: 0, usage: {} },
    },
    { type: 'io.input', payload: { text: 'next', mode: 'message' } },
  ]);
  const kinds = (conversation: typeof open): string[] =>
    transcript(conversation, scripted).flatMap((message) =>
      message.role === 'assistant' ? message.content.map((block) => block.type) : [],
    );
  assert.deepEqual([kinds(open), kinds(left)], [['text', 'provider'], ['text']]);
});

test('B003 after a cancel the history says that the action was cancelled, before the next message', async () => {
  const house = aHouse({
    script: (view) => (view.userText === 'hello' ? { text: 'hi' } : { actions: [{ name: 'wait' }] }),
    tools: [aTool('wait', (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)))],
  });
  await house.say('go');
  const driving = house.drive();
  await settle();
  await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
  await driving;
  const after = await house.ask('hello');
  assert.deepEqual(
    transcript(after, scripted).map((message) => message.role),
    ['user', 'assistant', 'tool', 'user', 'assistant'],
  );
});

test('B007 an action without a result is closed before anything is compacted', async () => {
  const open = await folded([
    ...started,
    responded([call('t1-1-1')]),
    {
      type: 'tool.invoke',
      payload: { action: 't1-1-1', name: 'echo', arguments: {}, argumentHash: 'h', effect: 'once' },
    },
    { type: 'memory.compacted', payload: { through: 1, summary: 'earlier' } },
  ]);
  assert.deepEqual(brokenMessages(transcript(open, scripted)), []);
});

const signed: Draft[] = [
  ...started,
  { type: 'thinking.step', payload: { text: 'hm', opaque: { signature: 's' } } },
  responded([{ type: 'thinking', step: 0 }, call('t1-1-1')]),
  { type: 'tool.result', payload: { action: 't1-1-1', outcome: 'ok', value: 1 } },
];

test('B009 B010 a signed thought goes back whole', async () => {
  const [, assistant] = transcript(await folded(signed), scripted);
  assert.deepEqual(assistant?.role === 'assistant' ? assistant.content[0] : undefined, {
    type: 'thinking',
    text: 'hm',
    opaque: { signature: 's' },
  });
});

test('B011 a thought is dropped for another model and comes back for its own', async () => {
  const conversation = await folded(signed);
  const kinds = (model: string): string[] =>
    transcript(conversation, { provider: 'scripted', model }).flatMap((message) =>
      message.role === 'assistant' ? message.content.map((block) => block.type) : [],
    );
  assert.deepEqual([kinds('other'), kinds('scripted')], [['action'], ['thinking', 'action']]);
});

test('B016 the transcript is the same bytes whichever action ends first', async () => {
  const bytes = async (first: string): Promise<string> => {
    const gate = aSignal();
    const slow = async (): Promise<string> => (await gate.promise, 'done');
    const quick = (): string => (setImmediate(gate.resolve), 'done');
    const house = aHouse({
      script: [{ actions: [{ name: 'a' }, { name: 'b' }] }, { text: 'ok' }],
      tools: [aTool('a', first === 'a' ? quick : slow), aTool('b', first === 'a' ? slow : quick)],
    });
    return JSON.stringify(transcript(await house.ask('go'), scripted));
  };
  assert.equal(await bytes('a'), await bytes('b'));
});

test('B017 B018 B019 B020 a batch of held and free actions has every result once, in order, after the answers', async () => {
  const house = aHouse({
    script: [
      {
        actions: [
          { name: 'echo' },
          { name: 'pay', arguments: { n: 1 } },
          { name: 'echo', arguments: { n: 2 } },
          { name: 'pay', arguments: { n: 3 } },
        ],
      },
      { text: 'ok' },
    ],
    tools: [echo, aTool('pay', () => 'paid', { effect: 'once' })],
    plugins: (bus) =>
      bus.before('before:tool.invoke', ({ tool }) => (tool.name === 'pay' ? hold('May it?') : undefined)),
  });
  const waiting = await house.ask('go');
  const [one, two] = waiting.turn?.requests ?? [];
  await house.post({ type: 'hitl.responded', payload: { request: 'nobody-asked', decision: 'allow', by: 'ana' } });
  await house.post({ type: 'hitl.responded', payload: { request: two?.request ?? '', decision: 'reject', by: 'ana' } });
  const half = await house.drive();
  await house.post({ type: 'hitl.responded', payload: { request: one?.request ?? '', decision: 'allow', by: 'ana' } });
  const done = await house.drive();
  assert.deepEqual(
    { asked: waiting.turn?.requests.length, open: half.turn !== undefined, results: results(done) },
    { asked: 2, open: true, results: ['ok', 'ok', 'ok', 'rejected'] },
  );
});

test('B021 B022 B023 B026 arguments that do not parse fail their own action only, and go out as an object', async () => {
  const house = aHouse({
    script: [
      {
        actions: [
          { name: 'echo', input: '{"path":"a","content":"half' },
          { name: 'echo', arguments: { n: 1 } },
          { name: 'echo', input: 'not json' },
        ],
      },
      { text: 'ok' },
    ],
    tools: [echo],
  });
  const done = await house.ask('go');
  const sent = transcript(done, scripted).flatMap((message) =>
    message.role === 'assistant'
      ? message.content.flatMap((block) => (block.type === 'action' ? [block.arguments] : []))
      : [],
  );
  assert.deepEqual(
    { results: results(done), sent },
    { results: ['bad_arguments', 'ok', 'bad_arguments'], sent: [{}, { n: 1 }, {}] },
  );
});

test('B025 B027 an action counts once, when its block is whole', async () => {
  const parts: ModelPart[] = [
    { type: 'start', kind: 'action', part: 'c1', name: 'echo' },
    { type: 'delta', part: 'c1', delta: '{"a":1}' },
    { type: 'delta', part: 'c1', delta: ' ' },
    { type: 'action', part: 'c1', name: 'echo', input: '{"a":1} ' },
    { type: 'end', part: 'c1' },
    { type: 'finish', stop: 'actions', usage: {} },
  ];
  const house = aHouse({ models: partsModel(parts, [...text('ok'), finish]), tools: [echo] });
  const done = await house.ask('go');
  assert.deepEqual(results(done), ['ok']);
});

test('B028 a stop for actions without any is asked again, then it is an error that says so', async () => {
  const house = aHouse({ models: partsModel([{ type: 'finish', stop: 'actions', usage: {} }]) });
  await house.ask('go');
  const end = await lastOf(house, 'agent.turn.end');
  assert.deepEqual([end?.status, end?.error?.code, end?.iterations], ['error', 'empty_reply', 2]);
});

test('B029 a stream without its end is asked again and leaves no message behind', async () => {
  const house = aHouse({ models: partsModel(text('ha'), [...text('hello'), finish]), limits: { maxAttempts: 2 } });
  await house.say('go');
  const done = await house.drive();
  const said = transcript(done, scripted).flatMap((message) => (message.role === 'assistant' ? message.content : []));
  assert.deepEqual(said, [{ type: 'text', text: 'hello' }]);
});

test('B033 one constant id for every call is many actions with results of their own', async () => {
  const same: ModelPart[] = ['1', '2', '3'].map((n) => ({
    type: 'action',
    part: 'call_x',
    name: 'echo',
    input: `{"n":${n}}`,
  }));
  const house = aHouse({
    models: partsModel([...same, { type: 'finish', stop: 'actions', usage: {} }], [...text('ok'), finish]),
    tools: [echo],
  });
  const done = await house.ask('go');
  assert.deepEqual(
    { results: results(done), broken: brokenMessages(transcript(done, scripted)) },
    { results: ['ok', 'ok', 'ok'], broken: [] },
  );
});

test('B034 B035 B036 blank text is kept in the log and never sent', async () => {
  const house = aHouse({ script: [{ text: ' ', actions: [{ name: 'echo' }] }, { text: 'ok' }], tools: [echo] });
  const done = await house.ask('go');
  const stored = (await house.facts()).flatMap((fact) =>
    fact.type === 'llm.response' ? fact.payload.content.map((block) => block.type) : [],
  );
  const sent = transcript(done, scripted).flatMap((message) =>
    message.role === 'assistant' ? message.content.map((block) => block.type) : [],
  );
  assert.deepEqual({ stored, sent }, { stored: ['text', 'action', 'text'], sent: ['action', 'text'] });
});

test('B034 an image without words is a message of its own', async () => {
  const conversation = await folded([
    {
      type: 'io.input',
      payload: { text: '', mode: 'message', attachments: [{ type: 'file', mediaType: 'image/png', data: 'aGk=' }] },
    },
    ...started.slice(1),
  ]);
  assert.deepEqual(transcript(conversation, scripted), [
    { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: 'aGk=' }] },
  ]);
});

test('B041 B042 thinking and then a refusal is refused, and shown as that', async () => {
  const house = aHouse({ script: [{ thinking: 'no', stop: 'refused' }] });
  await house.ask('go');
  const end = await lastOf(house, 'agent.turn.end');
  assert.deepEqual([end?.status, end?.stop], ['error', 'refused']);
});

test('B054 a listener that goes away is not a cancel', async () => {
  const house = aHouse({ script: [{ actions: [{ name: 'echo' }] }, { text: 'done' }], tools: [echo] });
  const off: () => void = house.bus.on('tool.invoke', () => off());
  const done = await house.ask('go');
  assert.equal(done.turns.at(-1)?.end?.status, 'completed');
});

test('B056 after an abort no further tool starts, and one that goes on is unknown', async () => {
  let second = false;
  const began = aSignal();
  const house = aHouse({
    script: [{ actions: [{ name: 'stubborn' }, { name: 'second' }] }, { text: 'no' }],
    tools: [
      aTool(
        'stubborn',
        () => {
          began.resolve();
          return new Promise(() => undefined);
        },
        { effect: 'once' },
      ),
      aTool('second', () => (second = true)),
    ],
    limits: { maxConcurrent: 1 },
    clock: {
      now: () => Date.now(),
      after: (ms, ring) =>
        (
          (timer) => () =>
            clearTimeout(timer)
        )(setTimeout(ring, ms / 100)),
    },
  });
  await house.say('go');
  const driving = house.drive();
  await began.promise;
  await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
  const done = await driving;
  assert.deepEqual(
    { second, outcomes: done.turns.at(-1)?.current?.actions.map((one) => one.observation?.outcome) },
    { second: false, outcomes: ['unknown', 'cancelled'] },
  );
});

test('B057 a steer that nobody read before the turn was stopped begins the next turn', async () => {
  const began = aSignal();
  const house = aHouse({
    script: (view) => (view.userText === 'other' ? { text: 'other it is' } : { actions: [{ name: 'wait' }] }),
    tools: [
      aTool(
        'wait',
        (_, { signal }) => (began.resolve(), new Promise((resolve) => signal.addEventListener('abort', resolve))),
      ),
    ],
  });
  await house.say('go');
  const driving = house.drive();
  await began.promise;
  await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
  await house.say('other', 'steer');
  const done = await driving;
  assert.deepEqual(
    { turns: done.turns.length, output: done.turns.at(-1)?.output },
    { turns: 2, output: 'other it is' },
  );
});

test('B058 a message that comes while a request is made up is in that request', async () => {
  let posted = false;
  const seen: number[] = [];
  const house = aHouse({
    script: (view) => (seen.push(view.request.messages.length), { text: 'ok' }),
    plugins: (bus) =>
      bus.before('before:llm.request', async () => {
        if (!posted) {
          posted = true;
          await house.say('one more thing', 'followup');
        }
        return undefined;
      }),
  });
  await house.ask('go');
  assert.deepEqual(seen, [2]);
});

test('B059 a forced choice holds for its place in the sequence, and the cap holds always', async () => {
  const modes: (string | undefined)[] = [];
  let n = 0;
  const house = aHouse({
    script: (view) => (modes.push(view.request.toolChoice?.mode), { actions: [{ name: 'count' }] }),
    tools: [aTool('count', () => ++n)],
    limits: { maxIterations: 3 },
    agent: { toolChoice: [{ mode: 'required' }, { mode: 'auto' }] },
  });
  await house.ask('go');
  assert.deepEqual(
    { modes, status: (await lastOf(house, 'agent.turn.end'))?.status },
    { modes: ['required', 'auto', 'auto'], status: 'max_iterations_reached' },
  );
});

test('B093 what is shown while the model speaks never ends in half a character', async () => {
  const [high, low] = ['\ud83d', '\ude00'];
  const parts: ModelPart[] = [
    { type: 'start', kind: 'text', part: '1' },
    { type: 'delta', part: '1', delta: `a${high}` },
    { type: 'delta', part: '1', delta: `${low}b` },
    { type: 'end', part: '1' },
    finish,
  ];
  const house = aHouse({ models: partsModel(parts) });
  await house.ask('go');
  const shown = house.heard.flatMap((event) => (event.type === 'llm.stream.chunk' ? [event.payload.delta] : []));
  assert.deepEqual({ shown, said: (await lastOf(house, 'io.output'))?.text }, { shown: ['a', '😀b'], said: 'a😀b' });
});

test('B108 B109 what was delivered is in the log, under the same ids', async () => {
  const house = aHouse({ script: [{ actions: [{ name: 'echo' }] }, { text: 'ok' }], tools: [echo] });
  await house.ask('go');
  const facts = await house.facts();
  const delivered = house.heard.flatMap((event) => ('seq' in event ? [event.id] : []));
  assert.deepEqual(
    delivered,
    facts.slice(1).map((fact) => fact.id),
  ); // the first one was posted before anybody drove
});

test('B112 a tool waits for every gate, however slow the one that refuses', async () => {
  let ran = false;
  const house = aHouse({
    script: [{ actions: [{ name: 'act' }] }, { text: 'ok' }],
    tools: [aTool('act', () => (ran = true))],
    plugins: (bus) => bus.before('before:tool.invoke', async () => (await settle(), deny('no'))),
  });
  await house.ask('go');
  assert.equal(ran, false);
});

test('a fold of facts in any order of nonsense never throws', () => {
  const facts = started.map((draft, index) => ({
    ...draft,
    seq: 9 - index,
    id: `c:${9 - index}`,
    v: 1,
    at: 0,
    conversationId: 'c',
    agentPath: 'main',
  }));
  assert.doesNotThrow(() => fold('c', 'main', [...facts].reverse() as never));
});

test('B043 arguments that end in the middle run nothing, whatever the provider says of why it stopped', async () => {
  let runs = 0;
  const house = aHouse({
    script: [{ actions: [{ name: 'put', input: '{"text": "half' }], stop: 'actions' }, { text: 'done' }],
    tools: [aTool('put', () => ++runs, { effect: 'once' })],
  });
  const conversation = await house.ask('go');
  const result = await lastOf(house, 'tool.result');
  assert.deepEqual([runs, result?.outcome, result?.error?.code], [0, 'invalid', 'bad_arguments']);
  // What is sent from then on is what a provider takes.
  assert.deepEqual(brokenMessages(transcript(conversation, { provider: 'scripted', model: 'scripted' })), []);
});

for (const [then, now, again] of [
  ['idempotent', 'once', 1],
  ['once', 'idempotent', 0],
] as const) {
  test(`B144 what was begun as ${then} is resumed as that, also where the tool is ${now} by then`, async () => {
    const clock = aClock();
    const log = createMemoryLog({ clock });
    const keys: string[] = [];
    const world = (effect: typeof then, over: Log): House =>
      aHouse({
        log: over,
        clock,
        script: [{ actions: [{ name: 'put' }] }, { text: 'done' }],
        tools: [aTool('put', (_, { idempotencyKey }) => void keys.push(idempotencyKey), { effect })],
      });
    await world(then, log).say('go');
    // The process dies when the tool has run and its result is not on record.
    const dying = dyingLog(log, { at: 5, when: 'before' });
    await assert.rejects(clock.until(world(then, dying).drive({ owner: 'w1' })), Crash);
    const before = keys.length;
    assert.equal(before, 1);
    clock.advance(120_000);
    const house = world(now, log);
    await clock.until(house.drive({ owner: 'w2' }));
    const intents = (await house.facts()).filter(({ type }) => type === 'tool.invoke');
    assert.deepEqual([keys.length - before, intents.length, new Set(keys).size], [again, 1, 1]);
  });
}
