import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../src/base/clock.ts';
import type { AccountStore, SelectionStore } from '../../src/kernel/ports.ts';
import { aMeta, load } from '../support/bundles.ts';

const yaml = `
config:
  react:
    main:
      supported_models: [{provider: openai, model: small}]
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - {name: io, kind: module, module: builtin/io}
          - {name: math, kind: module, module: builtin/math}
          - {name: time, kind: module, module: builtin/time, allowed: [time_now], tool_claims: {time_now: {provider: clock, claims: [read]}}}
models:
  balanced: {provider: openai, model: large}
`;

const store = (read: () => unknown): SelectionStore => ({ read });
const off = { disabled: { tools: { math: true, io: true } }, model: { provider: 'openai', model: 'small' } };
const withClock: AccountStore = { claims: () => ({ clock: ['read'] }) };

test('a turn gets the grant less the selection less unmet claims, and facts that say so', async () => {
  const bundle = await load(yaml);
  const { agent, facts } = await bundle.agentSource(store(() => off)).assemble(aMeta('main'));
  assert.deepEqual(
    agent.tools.map(({ name }) => name),
    ['tool_call'],
  );
  assert.deepEqual(agent.models, [{ provider: 'openai', model: 'small' }]);
  assert.deepEqual(agent.inactive, [
    { name: 'calculate', why: 'switched off by the user' },
    { name: 'time_now', why: 'needs a connected clock account' },
  ]);
  assert.deepEqual(
    facts.map(({ type }) => type),
    ['selection.applied', 'account.inactive'],
  );
});

test('the store is asked for the user, the bundle and the agent', async () => {
  const bundle = await load(`id: app@2\n${yaml}`);
  const asked: unknown[] = [];
  await bundle.agentSource({ read: (key) => void asked.push(key) }).assemble(aMeta('main'));
  assert.deepEqual(asked, [{ userId: 'ana', tenant: 'local', bundle: 'app@2', agent: 'main' }]);
});

test('claims that are met bring the tool back', async () => {
  const bundle = await load(yaml);
  const { agent, facts } = await bundle.agentSource(undefined, withClock).assemble(aMeta('main'));
  assert.deepEqual(
    agent.tools.map(({ name }) => name),
    ['calculate', 'time_now', 'tool_call'],
  );
  assert.deepEqual(facts, []);
});

test('accounts that cannot be read, or answer nonsense, meet no claim', async () => {
  const bundle = await load(yaml);
  const answers: readonly AccountStore['claims'][] = [
    () => Promise.reject(new Error('down')),
    () => {
      throw new Error('down');
    },
    () => JSON.parse('{"clock": "read"}') as Record<string, string[]>,
    () => JSON.parse('null') as Record<string, string[]>,
  ];
  for (const claims of answers) {
    const { agent } = await bundle.agentSource(undefined, { claims }).assemble(aMeta('main'));
    assert.ok(agent.inactive.some(({ name }) => name === 'time_now'));
  }
});

test('a store that fails leaves the agent as configured, and says so', async () => {
  const bundle = await load(yaml);
  const failing = store(() => Promise.reject(new Error('disk full')));
  const { agent, facts } = await bundle.agentSource(failing, withClock).assemble(aMeta('main'));
  assert.equal(agent.tools.length, 3);
  assert.deepEqual(facts, [
    { type: 'selection.ignored', payload: { why: 'The store failed (disk full); the agent is as configured.' } },
  ]);
});

test('a store that fails after it has answered leaves what it answered', async () => {
  const bundle = await load(yaml);
  let works = true;
  const source = bundle.agentSource(
    store(() => {
      if (works) return off;
      throw new Error('locked');
    }),
  );
  const before = await source.assemble(aMeta('main'));
  works = false;
  const after = await source.assemble(aMeta('main'));
  assert.equal(after.digest, before.digest);
  assert.deepEqual(after.facts[0]?.payload, { why: 'The store failed (locked); the selection read before is used.' });
  const other = await source.assemble(aMeta('main', { userId: 'bo' }));
  assert.notEqual(other.digest, before.digest);
});

test('a store that does not answer is not waited for longer than two seconds', async () => {
  const waits: number[] = [];
  const clock: Clock = {
    now: () => 0,
    after(ms, callback) {
      waits.push(ms);
      queueMicrotask(callback);
      return () => undefined;
    },
  };
  const bundle = await load(yaml, {}, { clock });
  const { facts } = await bundle.agentSource(store(() => new Promise(() => undefined))).assemble(aMeta('main'));
  assert.deepEqual(waits, [2_000]);
  assert.match(JSON.stringify(facts), /did not answer in 2000 ms/);
});

test('junk in the store is passed over with a fact', async () => {
  const bundle = await load(yaml);
  const { facts } = await bundle
    .agentSource(
      store(() => ({ disabled: 'all' })),
      withClock,
    )
    .assemble(aMeta('main'));
  assert.deepEqual(facts, [{ type: 'selection.ignored', payload: { why: 'disabled is string, not an object.' } }]);
});

test('the same selection gives the same frozen agent, without a promise where the stores need none', async () => {
  const bundle = await load(yaml);
  const source = bundle.agentSource(store(() => structuredClone(off)));
  const [one, other] = [source.assemble(aMeta('main')), source.assemble(aMeta('main', { id: 'c2' }))];
  assert.ok(!(one instanceof Promise) && one === other);
  assert.throws(() => {
    Reflect.apply(Array.prototype.push, one.agent.tools, [one.agent.tools[0]]);
  }, TypeError);
});

test('the hands of an agent are those of its tools, and no others', async () => {
  const source = (await load(yaml)).agentSource(store(() => off));
  const { agent } = await source.assemble(aMeta('main'));
  assert.deepEqual([...source.tools(agent).keys()], ['tool_call']);
  const stored = structuredClone(agent);
  assert.deepEqual([...source.tools(stored).keys()], ['tool_call']);
});

test('an agent that the bundle does not have is an error', async () => {
  const source = (await load(yaml)).agentSource();
  assert.throws(() => source.assemble(aMeta('mian')), /no agent "mian"; did you mean main \(bundle_unknown_name\)/);
});
