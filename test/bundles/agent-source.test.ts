import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptySelection } from '../../src/domain/selection.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { AccountStore, SelectionStore } from '../../src/kernel/choices.ts';
import { aMeta, aTalk, load } from '../support/bundles.ts';

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

/** A store that answers the same whoever asks; a conversation has no row of its own. */
const store = (read: () => unknown): SelectionStore => ({
  readSelection({ conversation }) {
    if (conversation !== undefined) return undefined;
    const value = read();
    return value instanceof Promise
      ? value.then((late: unknown) => ({ value: late, revision: 1 }))
      : { value, revision: 1 };
  },
  writeSelection: () => false,
});
const off = { disabled: { tools: { math: true, io: true } }, model: { provider: 'openai', model: 'small' } };
const withClock: AccountStore = { claims: () => ({ clock: ['read'] }) };

test('a turn gets the grant less the selection less unmet claims, and facts that say so', async () => {
  const bundle = await load(yaml);
  const { agent, facts } = await bundle.agentSource(store(() => off)).assemble(aMeta('main'), aTalk());
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

test('the store is asked for the conversation, then for the user, the bundle and the agent', async () => {
  const bundle = await load(`id: app@2\n${yaml}`);
  const asked: unknown[] = [];
  await bundle
    .agentSource({ readSelection: (key) => void asked.push(key), writeSelection: () => false })
    .assemble(aMeta('main'), aTalk());
  const own = { userId: 'ana', tenant: 'local', bundle: 'app@2', agent: 'main' };
  assert.deepEqual(asked, [{ ...own, conversation: 'c1' }, own]);
});

test('claims that are met bring the tool back', async () => {
  const bundle = await load(yaml);
  const { agent, facts } = await bundle.agentSource(undefined, withClock).assemble(aMeta('main'), aTalk());
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
    const { agent } = await bundle.agentSource(undefined, { claims }).assemble(aMeta('main'), aTalk());
    assert.ok(agent.inactive.some(({ name }) => name === 'time_now'));
  }
});

test('a store that fails leaves the agent as configured, and says so', async () => {
  const bundle = await load(yaml);
  const failing = store(() => Promise.reject(new Error('disk full')));
  const { agent, facts } = await bundle.agentSource(failing, withClock).assemble(aMeta('main'), aTalk());
  assert.equal(agent.tools.length, 3);
  assert.deepEqual(facts, [
    { type: 'selection.ignored', payload: { why: 'The store failed; the agent is as configured.' } },
  ]);
});

test('a store that fails leaves what the conversation last applied, by its log', async () => {
  const bundle = await load(yaml);
  const before = await bundle.agentSource(store(() => off)).assemble(aMeta('main'), aTalk());
  const failing = bundle.agentSource(
    store(() => {
      throw new Error('locked');
    }),
  );
  const after = await failing.assemble(aMeta('main'), aTalk(before.facts));
  assert.equal(after.digest, before.digest);
  assert.deepEqual(after.facts[0]?.payload, {
    why: 'The store failed; the selection that this conversation last used counts.',
  });
  const other = await failing.assemble(aMeta('main', { id: 'c2' }), aTalk());
  assert.notEqual(other.digest, before.digest);
});

test('the log holds the whole selection once, then its digest', async () => {
  const bundle = await load(yaml);
  const source = bundle.agentSource(
    store(() => off),
    withClock,
  );
  const first = await source.assemble(aMeta('main'), aTalk());
  const second = await source.assemble(aMeta('main'), aTalk(first.facts));
  assert.deepEqual(
    [first, second].map(({ facts }) => facts.map(({ payload }) => Object.keys(payload))),
    [[['digest', 'selection']], [['digest']]],
  );
});

test('a selection that was taken back is on record, so that it cannot come back when the store fails', async () => {
  const bundle = await load(yaml);
  const on = await bundle.agentSource(store(() => off)).assemble(aMeta('main'), aTalk());
  const back = await bundle.agentSource(store(() => undefined)).assemble(aMeta('main'), aTalk(on.facts));
  const talk = aTalk([...on.facts, ...back.facts]);
  assert.deepEqual(talk.selection?.selection, emptySelection);
});

test("a conversation's own copy counts instead of the user's record", async () => {
  const bundle = await load(yaml);
  const selections: SelectionStore = {
    readSelection: ({ conversation }) => ({ value: conversation === undefined ? off : {}, revision: 1 }),
    writeSelection: () => false,
  };
  const { agent } = await bundle.agentSource(selections, withClock).assemble(aMeta('main'), aTalk());
  assert.equal(agent.tools.length, 3);
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
  const { facts } = await bundle
    .agentSource(store(() => new Promise(() => undefined)))
    .assemble(aMeta('main'), aTalk());
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
    .assemble(aMeta('main'), aTalk());
  assert.deepEqual(facts, [
    {
      type: 'selection.ignored',
      payload: { why: 'disabled is string, not an object. The agent is as configured there.' },
    },
  ]);
});

test('the same selection gives the same frozen agent, without a promise where the stores need none', async () => {
  const bundle = await load(yaml);
  const source = bundle.agentSource(store(() => structuredClone(off)));
  const [one, other] = [source.assemble(aMeta('main'), aTalk()), source.assemble(aMeta('main', { id: 'c2' }), aTalk())];
  assert.ok(!(one instanceof Promise) && !(other instanceof Promise));
  assert.ok(one.agent === other.agent);
  assert.throws(() => {
    Reflect.apply(Array.prototype.push, one.agent.tools, [one.agent.tools[0]]);
  }, TypeError);
});

test('the hands of an agent are those of its tools, and no others', async () => {
  const source = (await load(yaml)).agentSource(store(() => off));
  const { agent } = await source.assemble(aMeta('main'), aTalk());
  assert.deepEqual([...source.tools(agent).keys()], ['tool_call']);
  const stored = structuredClone(agent);
  assert.deepEqual([...source.tools(stored).keys()], ['tool_call']);
});

test('an agent that the bundle does not have is an error', async () => {
  const source = (await load(yaml)).agentSource();
  assert.throws(
    () => source.assemble(aMeta('mian'), aTalk()),
    /no agent "mian"; did you mean main \(bundle_unknown_name\)/,
  );
});
