import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRequests } from '../../src/domain/conversation.ts';
import type { FactPayload } from '../../src/domain/event.ts';
import { toolDigest } from '../../src/domain/tool.ts';
import { deny, hold, type Remember } from '../../src/kernel/verdict.ts';
import type { Reply } from '../../src/adapters/models/script.ts';
import { aHouse, aTool, type House, type HouseOptions } from '../support/house.ts';

const mail = (to: string): Reply => ({ actions: [{ name: 'mail', arguments: { to } }] });
const both: Remember = { scopes: ['conversation', 'always'], subject: {}, about: 'every mail' };

/** Mails are held by one gate; what it lets people remember is the test's to say. */
function post(sent: string[], remember: (to: string) => Remember | undefined, more: Partial<HouseOptions> = {}): House {
  return aHouse({
    tools: [aTool('mail', ({ to }: { to: string }) => sent.push(to), { effect: 'once' })],
    script: [mail('bo'), mail('cy'), mail('di'), { text: 'sent' }],
    ...more,
    plugins(bus) {
      bus.before(
        'before:tool.invoke',
        ({ arguments: given }) => hold('Send it?', { remember: remember((given as { to: string }).to) }),
        { source: 'gate.mail' },
      );
      more.plugins?.(bus);
    },
  });
}

async function open(house: House): Promise<FactPayload<'hitl.requested'> | undefined> {
  const { turn } = await house.fold();
  return turn === undefined ? undefined : openRequests(turn)[0];
}

async function allow(house: House, reach?: FactPayload<'hitl.responded'>['allow']): Promise<void> {
  const { request = '' } = (await open(house)) ?? {};
  const payload = { request, decision: 'allow', by: 'ana', ...(reach !== undefined && { allow: reach }) } as const;
  await house.post({ type: 'hitl.responded', payload, key: request });
  await house.drive();
}

test('a yes for the conversation is a yes to every further run of the tool, and the log says whose', async () => {
  const sent: string[] = [];
  const house = post(sent, () => both);
  await house.ask('go');
  await allow(house, 'conversation');
  assert.deepEqual(sent, ['bo', 'cy', 'di']);
  const invoked = (await house.facts()).flatMap((fact) =>
    fact.type === 'tool.invoke' ? [fact.payload.allowedBy] : [],
  );
  const [allowance] = (await house.fold()).allowances;
  assert.deepEqual(invoked, [undefined, [allowance?.id], [allowance?.id]]);
  assert.deepEqual([allowance?.by, allowance?.about, allowance?.tool], ['ana', 'every mail', 'mail']);
});

test('a yes that says nothing of how far it reaches is for the one action', async () => {
  const sent: string[] = [];
  const house = post(sent, () => both);
  await house.ask('go');
  await allow(house);
  assert.deepEqual(sent, ['bo']);
  assert.notEqual(await open(house), undefined);
});

test('a yes reaches to what the gate takes to be the same, and no further', async () => {
  const sent: string[] = [];
  const house = post(sent, (to) => ({ ...both, subject: { to: to === 'cy' ? 'bo' : to } }));
  await house.ask('go');
  await allow(house, 'conversation');
  assert.deepEqual(sent, ['bo', 'cy']);
  assert.deepEqual((await open(house))?.arguments, { to: 'di' });
});

test('a tool that is described otherwise is asked about again', async () => {
  const sent: string[] = [];
  let description = 'Sends a mail.';
  const house = post(sent, () => both, {
    script: [mail('bo'), { text: 'one' }, mail('cy'), { text: 'two' }],
    change: () => ({
      tools: [{ name: 'mail', description, inputSchema: { type: 'object' }, effect: 'once', group: 'test' }],
    }),
    tools: [aTool('mail', ({ to }: { to: string }) => sent.push(to), { effect: 'once' })],
  });
  const tool = house.ports.agents.tools((await house.fold()).agent as never).get('mail');
  assert.ok(tool !== undefined);
  Object.assign(tool.definition, { description });
  await house.ask('go');
  await allow(house, 'conversation');
  description = 'Sends a mail, and a copy to us.';
  Object.assign(tool.definition, { description });
  await house.ask('and again');
  assert.deepEqual([sent, (await open(house))?.arguments], [['bo'], { to: 'cy' }]);
});

test('what is offered is what every gate that holds it lets people remember', async () => {
  const offers: (readonly string[] | undefined)[] = [];
  for (const second of [{ scopes: ['conversation'], subject: 1, about: 'it' } as const, undefined]) {
    const house = post([], () => both, {
      plugins: (bus) =>
        void bus.before('before:tool.invoke', () => hold('Sure?', second === undefined ? {} : { remember: second }), {
          source: 'gate.second',
        }),
    });
    await house.ask('go');
    offers.push((await open(house))?.allowance?.scopes);
  }
  assert.deepEqual(offers, [['conversation'], undefined]);
});

test('a yes to one gate is none to another that holds the next one', async () => {
  const sent: string[] = [];
  let isStrict = false;
  const house = post(sent, () => both, {
    plugins: (bus) =>
      void bus.before('before:tool.invoke', () => (isStrict ? hold('Sure?', { remember: both }) : undefined), {
        source: 'gate.second',
      }),
  });
  await house.ask('go');
  isStrict = true;
  // The first action itself is held by a second gate now, which nobody has answered.
  await allow(house, 'conversation');
  assert.deepEqual(sent, []);
  assert.deepEqual((await open(house))?.gate, 'gate.mail, gate.second');
});

test('a yes never answers a deny', async () => {
  const sent: string[] = [];
  const house = post(sent, () => both, {
    plugins: (bus) =>
      void bus.before('before:tool.invoke', ({ arguments: given }) =>
        (given as { to: string }).to === 'cy' ? deny('not to cy') : undefined,
      ),
  });
  await house.ask('go');
  await allow(house, 'conversation');
  assert.deepEqual(sent, ['bo', 'di']);
});

test('what was taken back is asked for again', async () => {
  const sent: string[] = [];
  const house = post(sent, () => both, { script: [mail('bo'), { text: 'one' }, mail('cy'), { text: 'two' }] });
  await house.ask('go');
  await allow(house, 'conversation');
  const [allowance] = (await house.fold()).allowances;
  await house.post({ type: 'allowance.revoked', payload: { allowance: allowance?.id ?? '', by: 'ana' } });
  await house.ask('and again');
  assert.deepEqual([sent, (await open(house))?.arguments], [['bo'], { to: 'cy' }]);
});

test('a yes for always is offered where it can be kept, counts where it is kept, and nowhere else', async () => {
  const sent: string[] = [];
  const house = post(sent, () => both);
  await house.ask('go');
  assert.deepEqual((await open(house))?.allowance?.scopes, ['conversation']);
  await allow(house, 'always');
  assert.deepEqual(sent, ['bo']);
});

test('what is allowed for always is allowed to that agent of that bundle, for the tool as it was described', async () => {
  const asked: boolean[] = [];
  for (const change of [{}, { agent: 'clerk' }, { bundle: 'other@1' }, { described: 'otherwise' }, { tool: 'order' }]) {
    const house = post([], () => both);
    const described = toolDigest(aTool('mail', () => 1, { effect: 'once' }).definition);
    const covers = [{ gate: 'gate.mail', subject: {} }];
    const kept = { id: 'a', scope: 'always', tool: 'mail', described, covers, about: '', by: 'ana', at: 1 } as const;
    const stored = { ...kept, bundle: 'test@1', agent: 'main', conversation: 'c0', ...change };
    Object.assign(house.ports, { allowances: { allowancesOf: () => [stored] } });
    await house.ask('go');
    asked.push((await open(house)) !== undefined);
  }
  assert.deepEqual(asked, [false, true, true, true, true]);
});

test('where what is kept cannot be read, a person is asked', async () => {
  for (const allowancesOf of [
    () => Promise.reject(new Error('the disk is gone')),
    () => {
      throw new Error('the disk is gone');
    },
  ]) {
    const sent: string[] = [];
    const house = post(sent, () => both);
    Object.assign(house.ports, { allowances: { allowancesOf } });
    await house.ask('go');
    assert.deepEqual([sent, (await open(house))?.allowance?.scopes], [[], ['conversation', 'always']]);
  }
});

test('a gate that asks whether a person may be asked cannot widen what is offered', async () => {
  const house = post([], () => ({ ...both, scopes: ['conversation'] }), {
    plugins: (bus) =>
      void bus.before('before:hitl.requested', (request) => ({
        verdict: 'revise',
        payload: {
          ...request,
          question: 'Really?',
          allowance: {
            ...request.allowance,
            scopes: ['conversation', 'always'],
            covers: [],
            about: 'anything',
          } as never,
        },
      })),
  });
  await house.ask('go');
  const { question, allowance } = (await open(house)) ?? {};
  assert.deepEqual([question, allowance?.scopes, allowance?.about], ['Really?', ['conversation'], 'every mail']);
});
