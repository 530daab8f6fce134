import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createScriptedModel } from '../../src/adapters/models/scripted.ts';
import { systemClock } from '../../src/base/clock.ts';
import { deny, hold } from '../../src/kernel/verdict.ts';
import { aHouse, aSignal, aTool, lastOf, settle } from '../support/house.ts';
import { transcript } from '../../src/assembly/transcript.ts';

const scripted = { provider: 'scripted', model: 'scripted' };
const echo = aTool('echo', (args) => args);

test('a turn without tools states its facts in the promised order', async () => {
  const house = aHouse({ script: [{ text: 'Hello.' }] });
  await house.ask('hi');
  assert.deepEqual(
    house.heard.map((event) => event.type).filter((type) => type !== 'io.status'),
    [
      'agent.turn.start',
      'llm.request',
      'llm.stream.chunk',
      'llm.stream.end',
      'llm.response',
      'io.output',
      'agent.turn.end',
    ],
  );
});

test('an action is intent, then effect, then observation, then the next call', async () => {
  const house = aHouse({
    script: [{ actions: [{ name: 'echo', arguments: { a: 1 } }] }, { text: 'ok' }],
    tools: [echo],
  });
  await house.ask('go');
  assert.equal(
    await house.story(),
    'io.input agent.turn.start llm.request llm.response tool.invoke tool.result llm.request llm.response io.output agent.turn.end',
  );
});

test('observations reach the prompt in the order asked, not in the order they came', async () => {
  const slow = aSignal();
  const tools = [
    aTool('slow', async () => {
      await slow.promise;
      return 'slow';
    }),
    aTool('fast', () => {
      setImmediate(slow.resolve);
      return 'fast';
    }),
  ];
  const house = aHouse({ script: [{ actions: [{ name: 'slow' }, { name: 'fast' }] }, { text: 'ok' }], tools });
  const conversation = await house.ask('go');
  const results = transcript(conversation, scripted).flatMap((message) =>
    message.role === 'tool' ? message.results.map((one) => one.name) : [],
  );
  const arrived = (await house.facts()).flatMap((fact) => (fact.type === 'tool.result' ? [fact.payload.value] : []));
  assert.deepEqual({ results, arrived }, { results: ['slow', 'fast'], arrived: ['fast', 'slow'] });
});

test('at most max_concurrent actions run at the same time', async () => {
  let running = 0;
  let most = 0;
  const work = aTool('work', async () => {
    most = Math.max(most, ++running);
    await settle();
    running--;
  });
  const actions = Array.from({ length: 8 }, () => ({ name: 'work' }));
  const house = aHouse({
    script: [{ actions }, { text: 'ok' }],
    tools: [work],
    limits: { maxConcurrent: 3, maxRepeats: 0 },
  });
  await house.ask('go');
  assert.equal(most, 3);
});

test('the actions beyond the cap are told so and do not run', async () => {
  const actions = Array.from({ length: 12 }, (_, index) => ({ name: 'echo', arguments: { index } }));
  const house = aHouse({ script: [{ actions }, { text: 'ok' }], tools: [echo] });
  await house.ask('go');
  const outcomes = (await house.facts()).flatMap((fact) =>
    fact.type === 'tool.result' ? [fact.payload.error?.code ?? fact.payload.outcome] : [],
  );
  assert.deepEqual(outcomes.sort(), [...Array<string>(10).fill('ok'), 'too_many', 'too_many']);
});

for (const [what, action, code] of [
  ['a name that is not granted', { name: 'nope' }, 'not_allowed'],
  ['a name of a prototype', { name: '__proto__' }, 'not_allowed'],
  ['arguments that are not JSON', { name: 'echo', input: '{"a":' }, 'bad_arguments'],
] as const) {
  test(`${what} is told to the model and nothing runs`, async () => {
    const house = aHouse({ script: [{ actions: [action] }, { text: 'sorry' }], tools: [echo] });
    const conversation = await house.ask('go');
    assert.deepEqual(
      {
        code: (await lastOf(house, 'tool.result'))?.error?.code,
        ran: (await house.story()).includes('tool.invoke'),
        status: conversation.turns.at(-1)?.end?.status,
      },
      { code, ran: false, status: 'completed' },
    );
  });
}

test('a fourth fault in a row ends the turn', async () => {
  const house = aHouse({ script: { replies: [{ actions: [{ name: 'nope' }] }], repeat: true }, tools: [echo] });
  await house.ask('go');
  const end = await lastOf(house, 'agent.turn.end');
  assert.deepEqual(
    { status: end?.status, iterations: end?.iterations, code: end?.error?.code },
    { status: 'error', iterations: 4, code: 'not_allowed' },
  );
});

test('a success between faults starts the count anew', async () => {
  const bad = { actions: [{ name: 'nope' }] };
  const house = aHouse({
    script: [bad, bad, bad, { actions: [{ name: 'echo' }] }, bad, bad, bad, { text: 'ok' }],
    tools: [echo],
  });
  await house.ask('go');
  assert.equal((await lastOf(house, 'agent.turn.end'))?.status, 'completed');
});

test('the cap on model calls is always on', async () => {
  let n = 0;
  const count = aTool('count', () => ++n);
  const house = aHouse({ script: { replies: [{ actions: [{ name: 'count' }] }], repeat: true }, tools: [count] });
  await house.ask('go');
  const end = await lastOf(house, 'agent.turn.end');
  assert.deepEqual(
    { status: end?.status, stop: end?.stop, iterations: end?.iterations },
    { status: 'max_iterations_reached', stop: 'limit', iterations: 25 },
  );
});

test('wrap_up gives one last call without tools', async () => {
  let n = 0;
  const house = aHouse({
    script: (view) =>
      view.request.toolChoice?.mode === 'none' ? { text: 'so far' } : { actions: [{ name: 'count' }] },
    tools: [aTool('count', () => ++n)],
    limits: { maxIterations: 2 },
    agent: { onLimit: 'wrap_up' },
  });
  await house.ask('go');
  const [output, end] = [await lastOf(house, 'io.output'), await lastOf(house, 'agent.turn.end')];
  assert.deepEqual(
    { text: output?.text, status: end?.status, iterations: end?.iterations },
    { text: 'so far', status: 'max_iterations_reached', iterations: 3 },
  );
});

test('the same call with the same result three times is refused, also when it succeeds', async () => {
  let ran = 0;
  const house = aHouse({
    script: { replies: [{ actions: [{ name: 'save', arguments: { x: 1 } }] }], repeat: true },
    tools: [aTool('save', () => (ran++, 'saved'))],
  });
  await house.ask('go');
  assert.deepEqual({ ran, code: (await lastOf(house, 'agent.turn.end'))?.error?.code }, { ran: 3, code: 'repeated' });
});

test('a tool that polls may opt out of the repeat guard', async () => {
  const house = aHouse({
    script: { replies: [{ actions: [{ name: 'poll' }] }], repeat: true },
    tools: [aTool('poll', () => 'not yet', { repeatable: true })],
  });
  await house.ask('go');
  assert.equal((await lastOf(house, 'agent.turn.end'))?.status, 'max_iterations_reached');
});

test('a length stop fails every action of its decision', async () => {
  const house = aHouse({
    script: [{ actions: [{ name: 'echo' }, { name: 'echo', input: '{"a":"hal' }], stop: 'length' }, { text: 'ok' }],
    tools: [echo],
  });
  await house.ask('go');
  const codes = (await house.facts()).flatMap((fact) =>
    fact.type === 'tool.result' ? [fact.payload.error?.code] : [],
  );
  assert.deepEqual(
    { codes, ran: (await house.story()).includes('tool.invoke') },
    { codes: ['cut', 'cut'], ran: false },
  );
});

for (const stop of ['length', 'refused', 'filtered', 'unknown'] as const) {
  test(`an answer that stopped as ${stop} is visible and not success`, async () => {
    const house = aHouse({ script: [{ text: 'part', stop }] });
    await house.ask('go');
    const end = await lastOf(house, 'agent.turn.end');
    assert.deepEqual(
      { status: end?.status, stop: end?.stop, code: end?.error?.code },
      { status: 'error', stop, code: `stop_${stop}` },
    );
  });
}

test('an empty reply is asked again once, then it is a protocol error', async () => {
  const once = aHouse({
    script: (view) => ({
      text: view.request.messages.some((message) => message.role === 'user' && message.synthetic === true)
        ? 'here'
        : ' ',
    }),
  });
  await once.ask('go');
  const twice = aHouse({ script: [{ text: '' }, { text: '' }, { text: 'too late' }] });
  await twice.ask('go');
  assert.deepEqual(
    [(await lastOf(once, 'agent.turn.end'))?.status, (await lastOf(twice, 'agent.turn.end'))?.error?.code],
    ['completed', 'empty_reply'],
  );
});

test('a provider that asks to be called again is called again, five times at most', async () => {
  const house = aHouse({ script: { replies: [{ text: 'thinking on', stop: 'paused' }], repeat: true } });
  await house.ask('go');
  const end = await lastOf(house, 'agent.turn.end');
  assert.deepEqual({ iterations: end?.iterations, code: end?.error?.code }, { iterations: 6, code: 'paused' });
});

test('a refused action has a verdict and a result, and no intent', async () => {
  const house = aHouse({
    script: [{ actions: [{ name: 'echo' }] }, { text: 'ok' }],
    tools: [echo],
    plugins: (bus) => bus.before('before:tool.invoke', () => deny('not today'), { source: 'gate.test' }),
  });
  await house.ask('go');
  assert.equal(
    await house.story(),
    'io.input agent.turn.start llm.request llm.response gate.verdict tool.result llm.request llm.response io.output agent.turn.end',
  );
});

test('a refused model call ends the turn with the gate that refused', async () => {
  const house = aHouse({
    plugins: (bus) => bus.before('before:llm.request', () => deny('too dear', 'budget'), { source: 'gate.budget' }),
  });
  await house.ask('go');
  const end = await lastOf(house, 'agent.turn.end');
  assert.deepEqual(
    { status: end?.status, stop: end?.stop, error: end?.error },
    { status: 'error', stop: 'gate', error: { code: 'budget', message: 'gate.budget: too dear' } },
  );
});

test('what a gate refuses of an answer was never streamed', async () => {
  const house = aHouse({
    script: [{ text: 'secret' }],
    plugins: (bus) => bus.before('before:io.output', () => deny('no')),
  });
  await house.ask('go');
  const said = house.heard.filter((event) => event.type === 'llm.stream.chunk' || event.type === 'io.output');
  assert.deepEqual({ said, stop: (await lastOf(house, 'agent.turn.end'))?.stop }, { said: [], stop: 'gate' });
});

test('three actions that need approval wait together and are answered in any order', async () => {
  const ran: unknown[] = [];
  const house = aHouse({
    script: [
      {
        actions: [
          { name: 'pay', arguments: { to: 'a' } },
          { name: 'pay', arguments: { to: 'b' } },
          { name: 'pay', arguments: { to: 'c' } },
        ],
      },
      { text: 'ok' },
    ],
    tools: [aTool('pay', (args: { to: string }) => void ran.push(args.to), { effect: 'once' })],
    plugins: (bus) => bus.before('before:tool.invoke', () => hold('May it pay?'), { source: 'gate.approval' }),
  });
  const waiting = await house.ask('go');
  const open = waiting.turn?.requests.map((one) => one.request) ?? [];
  for (const request of [...open].reverse())
    await house.post({ type: 'hitl.responded', payload: { request, decision: 'allow', by: 'ana' } });
  const done = await house.drive();
  assert.deepEqual(
    { open: open.length, ran, status: done.turns.at(-1)?.end?.status },
    { open: 3, ran: ['a', 'b', 'c'], status: 'completed' },
  );
});

test('an action beside a held one runs while the held one waits', async () => {
  const house = aHouse({
    script: [{ actions: [{ name: 'echo' }, { name: 'pay' }, { name: 'echo', arguments: { n: 2 } }] }, { text: 'ok' }],
    tools: [echo, aTool('pay', () => 'paid', { effect: 'once' })],
    plugins: (bus) =>
      bus.before('before:tool.invoke', ({ tool }) => (tool.name === 'pay' ? hold('May it pay?') : undefined)),
  });
  const waiting = await house.ask('go');
  assert.deepEqual(
    waiting.turn?.current?.actions.map((one) => one.observation?.outcome),
    ['ok', undefined, 'ok'],
  );
});

test('an answer is bound to the arguments it was given for', async () => {
  const house = aHouse({
    script: [{ actions: [{ name: 'pay', arguments: { to: 'a' } }] }, { text: 'ok' }],
    tools: [aTool('pay', () => 'paid', { effect: 'once' })],
    plugins: (bus) => bus.before('before:tool.invoke', () => hold('May it pay?'), { source: 'gate.approval' }),
  });
  const waiting = await house.ask('go');
  const request = waiting.turn?.requests[0];
  await house.post({
    type: 'hitl.requested',
    payload: {
      request: 'forged',
      kind: 'action',
      question: 'May it pay?',
      action: 't1-1-1',
      argumentHash: 'of something else',
      gate: 'gate.approval',
    },
  });
  await house.post({
    type: 'hitl.responded',
    payload: { request: request?.request ?? '', decision: 'reject', by: 'ana' },
  });
  await house.post({ type: 'hitl.responded', payload: { request: 'forged', decision: 'allow', by: 'mallory' } });
  await house.drive();
  assert.equal((await house.story()).includes('tool.invoke'), false);
});

test('a person edits an action: the edit runs, and the model is told who changed it', async () => {
  const sent: unknown[] = [];
  const house = aHouse({
    script: [{ actions: [{ name: 'send', arguments: { to: 'a' } }] }, { text: 'ok' }],
    tools: [aTool('send', (args) => void sent.push(args), { effect: 'once' })],
    plugins: (bus) => bus.before('before:tool.invoke', () => hold('May it send?'), { source: 'gate.approval' }),
  });
  const waiting = await house.ask('go');
  await house.post({
    type: 'hitl.responded',
    payload: { request: waiting.turn?.requests[0]?.request ?? '', decision: 'edit', arguments: { to: 'b' }, by: 'ana' },
  });
  const done = await house.drive();
  const messages = transcript(done, scripted);
  const call = messages
    .flatMap((message) => (message.role === 'assistant' ? message.content : []))
    .find((block) => block.type === 'action');
  const note = messages.flatMap((message) => (message.role === 'tool' ? message.results : []))[0]?.note;
  assert.deepEqual(
    { sent, call: call?.arguments, noted: note?.includes('changed by ana') },
    { sent: [{ to: 'b' }], call: { to: 'b' }, noted: true },
  );
});

test('a person is shown the arguments that would run, after every gate', async () => {
  const house = aHouse({
    script: [{ actions: [{ name: 'pay', arguments: { to: 'a', amount: 900 } }] }, { text: 'ok' }],
    tools: [aTool('pay', () => 'paid', { effect: 'once' })],
    plugins: (bus) => {
      bus.before('before:tool.invoke', () => hold('May it pay?'), { source: 'gate.approval' });
      bus.before('before:tool.invoke', (question) =>
        JSON.stringify(question.arguments).includes('900')
          ? { verdict: 'revise', payload: { ...question, arguments: { to: 'a', amount: 100 } } }
          : undefined,
      );
    },
  });
  const waiting = await house.ask('go');
  assert.deepEqual(waiting.turn?.requests[0]?.arguments, { to: 'a', amount: 100 });
});

test('an approval answers a hold and never a deny', async () => {
  let refuses = false;
  const house = aHouse({
    script: [{ actions: [{ name: 'echo' }] }, { text: 'ok' }],
    tools: [echo],
    plugins: (bus) => {
      bus.before('before:tool.invoke', () => hold('May it?'), { source: 'gate.approval' });
      bus.before('before:tool.invoke', () => (refuses ? deny('forbidden since') : undefined), {
        source: 'gate.policy',
      });
    },
  });
  const waiting = await house.ask('go');
  await house.post({
    type: 'hitl.responded',
    payload: { request: waiting.turn?.requests[0]?.request ?? '', decision: 'allow', by: 'ana' },
  });
  refuses = true;
  await house.drive();
  assert.equal((await lastOf(house, 'tool.result'))?.error?.message, 'forbidden since');
});

test('cancel during a tool gives every open action its observation and starts nothing new', async () => {
  const began = aSignal();
  const tools = [
    aTool(
      'wait',
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          began.resolve();
          signal.addEventListener('abort', () => reject(new Error('stopped')));
        }),
    ),
    echo,
  ];
  const house = aHouse({
    script: [{ actions: [{ name: 'wait' }, { name: 'echo' }] }, { text: 'no' }],
    tools,
    limits: { maxConcurrent: 1 },
  });
  await house.say('go');
  const driving = house.drive();
  await began.promise;
  await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
  const conversation = await driving;
  const turn = conversation.turns.at(-1);
  assert.deepEqual(
    { status: turn?.end?.status, outcomes: turn?.current?.actions.map((one) => one.observation?.outcome) },
    { status: 'stopped', outcomes: ['cancelled', 'cancelled'] },
  );
});

test('a steer stops the model call and is read by the next one', async () => {
  const house = aHouse({
    script: (view) => (view.userText === 'stop, do that' ? { text: 'that' } : { text: 'never', fault: 'hang' }),
  });
  await house.say('do this');
  const driving = house.drive();
  await settle();
  await house.say('stop, do that', 'steer');
  const conversation = await driving;
  assert.deepEqual(
    { output: conversation.turns.at(-1)?.output, turns: conversation.turns.length },
    { output: 'that', turns: 1 },
  );
});

test('a follow-up is read before the next model call, and nothing is lost when there is none', async () => {
  const began = aSignal();
  const go = aSignal();
  const house = aHouse({
    script: (view) =>
      view.step === 0 && view.userText === 'go' ? { actions: [{ name: 'wait' }] } : { text: `heard ${view.userText}` },
    tools: [
      aTool('wait', async () => {
        began.resolve();
        await go.promise;
      }),
    ],
  });
  await house.say('go');
  const driving = house.drive();
  await began.promise;
  await house.say('and this', 'followup');
  go.resolve();
  await driving;
  assert.equal((await lastOf(house, 'io.output'))?.text, 'heard and this');
});

test('a cancelled turn can be resumed and goes on where it was', async () => {
  const house = aHouse({
    script: (view) => (view.results.length > 0 ? { text: 'went on' } : { actions: [{ name: 'wait' }] }),
    tools: [aTool('wait', (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)))],
  });
  await house.say('go');
  const driving = house.drive();
  await settle();
  await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
  await driving;
  await house.post({ type: 'cancel.resume', payload: { by: 'ana' } });
  const conversation = await house.drive();
  assert.deepEqual(
    { turns: conversation.turns.length, output: conversation.turns.at(-1)?.output },
    { turns: 1, output: 'went on' },
  );
});

test('a cancel that comes while the model is being opened stops the call', async () => {
  const hanging = createScriptedModel([{ fault: 'hang' }], { clock: systemClock });
  const house = aHouse({
    models: {
      async open() {
        await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
        return hanging;
      },
    },
  });
  const conversation = await house.ask('go');
  assert.equal(conversation.turns.at(-1)?.end?.status, 'stopped');
});

test('a tool that a gate took out of the request cannot be called, also when the model tries', async () => {
  const house = aHouse({
    script: [{ actions: [{ name: 'echo' }, { name: 'other' }] }, { text: 'ok' }],
    tools: [echo, aTool('other', () => 'ran')],
    plugins: (bus) =>
      bus.before('before:llm.request', (question) => {
        const tools = question.request.tools.filter((tool) => tool.name === 'other');
        return tools.length === question.request.tools.length
          ? undefined
          : { verdict: 'revise', payload: { ...question, request: { ...question.request, tools } } };
      }),
  });
  await house.ask('go');
  const outcomes = (await house.facts()).flatMap((fact) =>
    fact.type === 'tool.result' ? [fact.payload.error?.code ?? fact.payload.outcome] : [],
  );
  assert.deepEqual(outcomes, ['not_allowed', 'ok']);
});

test('a cancel that comes before the turn has begun stops that turn', async () => {
  const house = aHouse({ script: [{ text: 'never said' }] });
  await house.say('go');
  await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
  const conversation = await house.drive();
  assert.deepEqual([conversation.turns.at(-1)?.end?.status, conversation.turns.at(-1)?.calls], ['stopped', 0]);
});

test('a gate that changes arguments in place is refused: it must revise', async () => {
  let ran: unknown;
  const house = aHouse({
    script: [{ actions: [{ name: 'run', arguments: { n: { deep: 1 } } }] }, { text: 'ok' }],
    tools: [aTool('run', (args) => (ran = args))],
    plugins: (bus) =>
      bus.before('before:tool.invoke', ({ arguments: given }) => {
        (given as { n: { deep: number } }).n.deep = 999;
        return undefined;
      }),
  });
  await house.ask('go');
  assert.deepEqual([ran, (await lastOf(house, 'tool.result'))?.error?.code], [undefined, 'gate_failed']);
});
