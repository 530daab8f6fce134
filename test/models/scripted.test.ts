import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { createScriptedModel, type ScriptedOptions } from '../../src/adapters/models/scripted.ts';
import type { Script } from '../../src/adapters/models/script.ts';
import type { Message, ModelPart, ModelRequest } from '../../src/domain/model.ts';
import { aRequest, collect, ok, said, spoke, textOf, used } from '../support/streams.ts';

const clock: Clock = systemClock;

async function run(script: Script, messages: readonly Message[], options: Partial<ScriptedOptions> = {}) {
  return ask(createScriptedModel(script, { clock, ...options }), aRequest({ messages }));
}

async function ask(model: ReturnType<typeof createScriptedModel>, request: ModelRequest, conversationId = 'c1') {
  return collect(await model.call(request, { conversationId, signal: new AbortController().signal }));
}

test('a reply comes as thinking, text, actions and a finish, in pieces of the size asked', async () => {
  const parts = await run(
    [{ thinking: 'hm', text: 'hello', actions: [{ name: 'add', arguments: { b: 1, a: 2 } }], chunks: 3 }],
    [said('hi')],
  );
  assert.deepEqual(parts.slice(0, -1), [
    { type: 'start', kind: 'thinking', part: 'thinking' },
    { type: 'delta', part: 'thinking', delta: 'hm' },
    { type: 'end', part: 'thinking' },
    { type: 'start', kind: 'text', part: 'text' },
    { type: 'delta', part: 'text', delta: 'hel' },
    { type: 'delta', part: 'text', delta: 'lo' },
    { type: 'end', part: 'text' },
    { type: 'start', kind: 'action', part: 'call_1', name: 'add' },
    { type: 'delta', part: 'call_1', delta: '{"a' },
    { type: 'delta', part: 'call_1', delta: '":2' },
    { type: 'delta', part: 'call_1', delta: ',"b' },
    { type: 'delta', part: 'call_1', delta: '":1' },
    { type: 'delta', part: 'call_1', delta: '}' },
    { type: 'action', part: 'call_1', name: 'add', input: '{"a":2,"b":1}' },
  ]);
  assert.deepEqual(parts.at(-1), {
    type: 'finish',
    stop: 'actions',
    usage: { input: 1, cacheRead: 0, output: 5, reasoning: 1 },
  });
});

test('pieces never split a surrogate pair', async () => {
  const parts = await run([{ text: '😀a😀', chunks: 1 }], [said('hi')]);
  const deltas = parts.flatMap((part) => (part.type === 'delta' ? [part.delta] : []));
  assert.deepEqual(deltas, ['😀', 'a', '😀']);
});

test('the reply is a function of the transcript, not of how often the model was called', async () => {
  const script = [{ text: 'one' }, { text: 'two' }];
  const model = createScriptedModel(script, { clock });
  const first = aRequest({ messages: [said('hi')] });
  const second = aRequest({ messages: [said('hi'), spoke('one'), said('and?')] });
  assert.equal(textOf(await ask(model, first)), 'one');
  assert.equal(textOf(await ask(model, first)), 'one');
  assert.equal(textOf(await ask(model, second)), 'two');
  assert.equal(textOf(await ask(createScriptedModel(script, { clock }), second)), 'two');
});

test('a script that has run out fails and says so; repeat starts it over', async () => {
  const messages = [said('hi'), spoke('one'), said('and?')];
  assert.deepEqual(await run([{ text: 'one' }], messages), [
    {
      type: 'failure',
      failure: { class: 'bad_request', message: 'The script of the scripted model has no reply 2.' },
    },
  ]);
  assert.equal(textOf(await run({ replies: [{ text: 'one' }], repeat: true }, messages)), 'one');
});

test('a call that comes again after a fault gets the next reply', async () => {
  const model = createScriptedModel(
    [{ fault: 'rate_limit', retryAfterMs: 5 }, { text: 'half', fault: 'cut' }, { text: 'whole' }, { text: 'more' }],
    { clock },
  );
  const first = aRequest({ messages: [said('hi')] });
  const [failure] = await ask(model, first);
  assert.deepEqual(failure, {
    type: 'failure',
    failure: { class: 'rate_limit', message: 'Too many requests.', status: 429, retryAfterMs: 5 },
  });
  const cut = await ask(model, first);
  assert.equal(textOf(cut), 'half');
  assert.equal(cut.at(-1)?.type, 'end');
  assert.equal(textOf(await ask(model, first)), 'whole');
  assert.equal(textOf(await ask(model, first)), 'whole');
  assert.equal(textOf(await ask(model, aRequest({ messages: [said('hi'), spoke('whole'), said('!')] }))), 'more');
});

test('a fault whose answer stayed in the transcript is not skipped twice', async () => {
  const model = createScriptedModel([{ text: 'half', fault: 'cut' }, { text: 'whole' }], { clock });
  await ask(model, aRequest({ messages: [said('hi')] }));
  assert.equal(textOf(await ask(model, aRequest({ messages: [said('hi'), spoke('half'), said('!')] }))), 'whole');
});

test('a fault at the end of a script stays', async () => {
  const model = createScriptedModel([{ fault: 'server' }], { clock });
  for (let attempt = 0; attempt < 3; attempt++) {
    assert.equal((await ask(model, aRequest({ messages: [said('hi')] }))).at(-1)?.type, 'failure');
  }
});

test('a fault comes after as many parts as asked', async () => {
  for (let at = 0; at <= 3; at++) {
    const parts = await run([{ text: 'hello', fault: 'overloaded', at }], [said('hi')]);
    assert.equal(parts.length, at + 1);
    assert.equal(parts.at(-1)?.type, 'failure');
  }
});

test('turns are chosen by what the person said, and templates read it and the results', async () => {
  const script: Script = {
    turns: [
      {
        when: String.raw`weather in (?<city>\w+) on day (\d+)`,
        replies: [
          { actions: [{ name: 'forecast', arguments: { city: '{{match.city}}', day: '{{match.2 | number}}' } }] },
          { text: '{{match.city}}: {{last.ret.degrees | fixed 1}} degrees, {{last.ret.sky}}{{last.ret.none}}.' },
        ],
      },
    ],
    otherwise: [{ text: 'You said: {{user}}' }],
  };
  const asked = [said('hello'), spoke('hi'), said('Weather in Bern on day 3?')];
  const [, , action] = await run(script, asked);
  assert.deepEqual(action, {
    type: 'action',
    part: 'call_1',
    name: 'forecast',
    input: '{"city":"Bern","day":3}',
  });
  const answered = [...asked, ...used('forecast', {}, ok({ degrees: 20.25, sky: 'clear' }))];
  assert.equal(textOf(await run(script, answered)), 'Bern: 20.3 degrees, clear.');
  assert.equal(textOf(await run(script, [said('what?')])), 'You said: what?');
});

test('a template that is an argument by itself keeps the type of what it finds', async () => {
  const script: Script = [{ text: '' }, { actions: [{ name: 'next', arguments: { all: '{{last.ret}}' } }] }];
  const parts = await run(script, [said('go'), ...used('list', {}, ok([1, { a: null }]))]);
  assert.ok(parts.some((part) => part.type === 'action' && part.input === '{"all":[1,{"a":null}]}'));
});

test('a script may be a function of what the model sees', async () => {
  const script: Script = ({ results, userText, step, replies }) => ({
    text: `${userText} ${JSON.stringify(results[0]?.observation.value)} ${step} ${replies}`,
  });
  const messages = [said('a'), spoke('b'), said('c'), ...used('t', {}, ok(7))];
  assert.equal(textOf(await run(script, messages)), 'c 7 1 2');
});

test('a function that throws or gives junk is a failure with its words', async () => {
  const thrown = await run(() => {
    throw new Error('no idea');
  }, [said('hi')]);
  assert.ok(thrown[0]?.type === 'failure' && thrown[0].failure.message.includes('no idea'));
  const junk = await run((() => ({ txt: 'hi' })) as unknown as Script, [said('hi')]); // a mistake of an author
  assert.ok(junk[0]?.type === 'failure' && junk[0].failure.message.includes('script_invalid'));
});

test('a script that is not well-formed is refused with the path', () => {
  const open = (script: unknown) => () => createScriptedModel(script as Script, { clock }); // a mistake of an author
  assert.throws(open([{ txt: 'hi' }]), { code: 'script_invalid' });
  assert.throws(open([]), { code: 'script_invalid' });
  assert.throws(open({ turns: [{ when: '(', replies: [{}] }] }), /turns\.0\.when.*regular expression/);
});

test('usage grows with the transcript and counts what was sent before as read from a cache', async () => {
  const model = createScriptedModel({ replies: [{ text: 'abcd' }], repeat: true }, { clock });
  const first = { ...aRequest({ instructions: 'x'.repeat(40) }), messages: [said('y'.repeat(20))] };
  const usages = [];
  for (const request of [first, { ...first, messages: [...first.messages, spoke('abcd'), said('z'.repeat(8))] }]) {
    const finish = (await ask(model, request)).at(-1);
    usages.push(finish?.type === 'finish' && finish.usage);
  }
  assert.deepEqual(usages, [
    { input: 15, cacheRead: 0, output: 1 },
    { input: 3, cacheRead: 15, output: 1 },
  ]);
});

test('a hang ends when the call is aborted, and when it is closed', async () => {
  const model = createScriptedModel([{ text: 'so far', fault: 'hang', at: 2 }], { clock });
  const controller = new AbortController();
  const stream = await model.call(aRequest({}), { conversationId: 'c', signal: controller.signal });
  assert.equal((await stream.next())?.type, 'start');
  assert.equal((await stream.next())?.type, 'delta');
  const pending = stream.next();
  controller.abort();
  const last = await pending;
  assert.ok(last?.type === 'failure' && last.failure.class === 'aborted');
  assert.equal(await stream.next(), undefined);

  const closed = await model.call(aRequest({}), { conversationId: 'c2', signal: new AbortController().signal });
  await closed.next();
  await closed.next();
  const waiting = closed.next();
  closed.close();
  closed.close();
  assert.equal(await waiting, undefined);
});

test('delays pass on the clock that was given, and an abort ends them', async () => {
  const waits: number[] = [];
  const instant: Clock = {
    now: () => 0,
    after(ms, callback) {
      waits.push(ms);
      queueMicrotask(callback);
      return () => undefined;
    },
  };
  const parts = await run([{ text: 'four words of text' }], [said('hi')], { clock: instant, delayMs: 50, paceMs: 7 });
  assert.equal(textOf(parts), 'four words of text');
  assert.deepEqual(waits, [50, 7, 7, 7]);

  const never: Clock = { now: () => 0, after: () => () => undefined };
  const controller = new AbortController();
  const model = createScriptedModel([{ text: 'late', delayMs: 1000 }], { clock: never });
  const stream = await model.call(aRequest({}), { conversationId: 'c', signal: controller.signal });
  const pending = stream.next();
  controller.abort();
  const part: ModelPart | undefined = await pending;
  assert.ok(part?.type === 'failure' && part.failure.class === 'aborted');
});

test('parts without a delay are handed out without a promise', () => {
  const model = createScriptedModel([{ text: 'now' }], { clock });
  const stream = model.call(aRequest({}), { conversationId: 'c', signal: new AbortController().signal });
  assert.ok(!(stream instanceof Promise));
  assert.ok(!(stream.next() instanceof Promise));
});
