// What an operator asks of a server: how agents stand, what an edit would do, what is left of budgets.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createMemoryLedger } from '../../src/adapters/stores/ledger/memory.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import { agentDetails, budgetList, editPlan } from '../../src/http/wire.ts';
import { accountOfUser } from '../../src/kernel/ledger.ts';
import { createMeter } from '../../src/platform/metering/meter.ts';
import { temporaryFolder } from '../stores/temporary.ts';
import { aServer, OUTCOMES, type Served } from './server.ts';

const details = async ({ call }: Served, as: string) => {
  const { body, status } = await call('GET', '/api/v1/agents/main', { as });
  assert.equal(status, 200, JSON.stringify(body));
  return agentDetails.strict().parse(body);
};

const BUNDLE = `
id: plain@1
config: { react: { main: { system_prompt: You help. } } }
surfaces:
  as_consumer:
    mcp: { services: { gone: { transport: stdio, command: treadle-no-such-program } } }
    agents:
      main:
        tools:
          - { name: gone, kind: mcp }
          - { name: math, kind: module, module: builtin/math, tool_traits: { calculate: { approval: ask } } }
models:
  balanced: { provider: anthropic, model: claude-sonnet-4-6 }
`;

const environment = { ANTHROPIC_API_KEY: 'a-key-that-nobody-may-read' };

async function aPlainServer(t: Parameters<typeof temporaryFolder>[0]): Promise<Served & { readonly file: string }> {
  const file = path.join(temporaryFolder(t), 'plain.yaml');
  writeFileSync(file, BUNDLE);
  return { ...(await aServer(t, { bundles: [file], environment })), file };
}

test('an agent is told with its tools, plugins, prices and servers, to an admin alone', async (t) => {
  const served = await aPlainServer(t);
  const as = await served.key({ scopes: ['admin'] });
  const found = await details(served, as);
  assert.deepEqual(
    found.tools.map(({ name, asks, effect }) => [name, asks, effect]),
    [['calculate', true, 'read']],
  );
  const [model] = found.roles.find(({ decides }) => decides)?.models ?? [];
  assert.deepEqual([model?.model, model?.basis, model?.rates?.input], ['claude-sonnet-4-6', 'list', '3']);
  const loop = found.plugins.find(({ id }) => id === 'gate.endless_loop');
  assert.deepEqual(loop?.judges, [{ question: 'before:llm.request', priority: 50 }]);
  const [server] = found.servers;
  assert.deepEqual([server?.status, server?.failures, server?.tools], ['down', 1, []]);
  assert.match(server?.why ?? '', /treadle-no-such-program|ENOENT/);
  const settings = found.settings.find(({ key }) => key === 'system_prompt');
  assert.match(settings?.from ?? '', /plain\.yaml:3/);
  assert.equal(
    (await served.call('GET', '/api/v1/agents/main', { as: await served.key() })).code,
    'insufficient_scope',
  );
  assert.equal((await served.call('GET', '/api/v1/agents/nobody', { as })).code, 'agent_unknown');
});

test('a tool server that is down is asked again on demand, and one that is not there is not found', async (t) => {
  const served = await aPlainServer(t);
  await served.call('GET', '/api/v1/agents/main');
  const { body } = await served.call('POST', '/api/v1/agents/main/servers/gone/ask', { body: {} });
  assert.equal(agentDetails.parse(body).servers[0]?.failures, 2);
  assert.equal((await served.call('POST', '/api/v1/agents/main/servers/none/ask')).code, 'not_found');
});

async function plan({ call }: Served, bundle: string) {
  const { body, status } = await call('POST', '/api/v1/agents/main/plan', { body: { bundle } });
  assert.equal(status, 200, JSON.stringify(body));
  return editPlan.strict().parse(body);
}

test('an edit is told by what it widens, rewrites and leaves, and changes nothing', async (t) => {
  const served = await aPlainServer(t);
  const edit = BUNDLE.replace('approval: ask', 'approval: never').replace('You help.', 'You help a lot.');
  const found = await plan(served, edit);
  assert.deepEqual(
    found.agents[0]?.changes.map(({ kind, what }) => `${kind}: ${what}`),
    ['widens: calculate runs without asking a person', 'rewrites: the system prompt is another'],
  );
  assert.deepEqual([found.agents.map(({ cold }) => cold), found.notes], [[0], []]);
  const same = await plan(served, BUNDLE);
  assert.deepEqual([same.before === same.after, same.agents.flatMap(({ changes }) => changes)], [true, []]);
  assert.equal(
    (await details(served, await served.key({ scopes: ['admin'] }))).tools.some(({ asks }) => asks),
    true,
  );
});

test('an edit that is wrong is refused with every mistake and its line', async (t) => {
  const served = await aPlainServer(t);
  const bundle = BUNDLE.replace('builtin/math', 'builtin/maths').replace('system_prompt', 'sytem_prompt');
  const { status, code, body } = await served.call('POST', '/api/v1/agents/main/plan', { body: { bundle } });
  assert.deepEqual([status, code], [422, 'bundle_invalid']);
  const { details: more } = body['error'] as { details: { problems: string[] } };
  assert.match(more.problems.join('\n'), /line 3:.*sytem_prompt/);
  assert.ok(!JSON.stringify(body).includes(path.dirname(served.file)));
});

test('an edit brings no module, no service and no program with it that does not run already', async (t) => {
  const served = await aPlainServer(t);
  const other = path.join(path.dirname(served.file), 'strange.tool.js');
  writeFileSync(other, 'globalThis.treadleStrangeModule = true; export const tools = [];');
  const bundle = BUNDLE.replace('builtin/math', './strange.tool.js');
  assert.equal((await served.call('POST', '/api/v1/agents/main/plan', { body: { bundle } })).code, 'bundle_invalid');
  assert.equal('treadleStrangeModule' in globalThis, false);
  const marker = path.join(path.dirname(served.file), 'ran');
  const found = await plan(served, BUNDLE.replace('treadle-no-such-program', `touch, args: ['${marker}']`));
  assert.match(found.notes.join(), /the MCP server gone is new or reached otherwise/);
  assert.throws(() => readFileSync(marker));
});

test('an edit cannot be used to read the variables of the server', async (t) => {
  const served = await aPlainServer(t);
  const found = await plan(served, BUNDLE.replace('claude-sonnet-4-6', '"${ANTHROPIC_API_KEY}"'));
  assert.match(JSON.stringify(found), /the model is anthropic\/\$\{ANTHROPIC_API_KEY\}/);
  assert.ok(!JSON.stringify(found).includes(environment.ANTHROPIC_API_KEY));
});

test('budgets say what is spent, set aside and left, and who is blocked', async (t) => {
  const ledger = createMemoryLedger({ clock: systemClock });
  const log = createMemoryLog({ clock: systemClock });
  const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const meter = createMeter({ ledger, log, clock: systemClock, logger });
  const budgets = { user: { day: { money: '1', calls: 3 } }, tenant: { month: { tokens: 1_000 } } };
  const metering = { meter, owner: 'test', budgets };
  const { call, key } = await aServer(t, { log, measures: { metering } });
  const spender = { conversationId: 'c1', tenant: 'local', userId: 'ana', agent: 'main', bundle: 'b', runs: ['c1'] };
  const spent = { provider: 'p', model: 'm', usage: { input: 100 }, cost: '1', failed: false };
  const at = systemClock.now();
  ledger.add(spender, [{ seq: 1, at, call: spent, charge: { tokens: 100, money: '1' } }], { through: 1 });
  ledger.reserve({
    ...{
      id: 'r',
      conversationId: 'c2',
      owner: 'test',
      until: at + 60_000,
      calls: 1,
      actions: 0,
      tokens: 10,
      money: '0',
    },
    caps: [{ account: accountOfUser('local', 'ana'), period: '' }],
  });
  const read = async (as: string) => {
    const { budgets: rows } = budgetList.parse((await call('GET', '/api/v1/budgets', { as })).body);
    return rows.map(
      ({ name, measure, cap, spent: used, reserved, left, isBlocked }) =>
        `${name} ${measure} ${cap} ${used} ${reserved} ${left}${isBlocked ? ' blocked' : ''}`,
    );
  };
  assert.deepEqual(await read(await key({ scopes: ['admin'] })), [
    'local tokens 1000 100 0 900',
    'ana calls 3 1 1 1',
    'ana money 1 1 0 0 blocked',
    'local calls 3 0 0 3',
    'local money 1 0 0 1',
  ]);
  assert.deepEqual(await read(await key({ userId: 'bo' })), [
    'local tokens 1000 100 0 900',
    'bo calls 3 0 0 3',
    'bo money 1 0 0 1',
  ]);
});

test('an admin who has spent nothing yet sees the budget that holds them', async (t) => {
  const ledger = createMemoryLedger({ clock: systemClock });
  const log = createMemoryLog({ clock: systemClock });
  const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const meter = createMeter({ ledger, log, clock: systemClock, logger });
  const metering = { meter, owner: 'test', budgets: { user: { day: { calls: 3 } } } };
  const { call } = await aServer(t, { log, measures: { metering } });
  const { budgets } = budgetList.parse((await call('GET', '/api/v1/budgets')).body);
  assert.deepEqual(
    budgets.map(({ measure, left }) => [measure, left]),
    [['calls', 3].map(String)],
  );
});

test('an agent whose model was left open says which one answers, and why', async (t) => {
  const { call } = await aServer(t, { bundles: ['agents/exposure.yaml'], environment: { ANTHROPIC_API_KEY: 'none' } });
  const { agents } = (await call('GET', '/api/v1/agents')).body as {
    agents: { model?: { provider: string; why: string } }[];
  };
  assert.deepEqual([agents[0]?.model?.provider, agents[0]?.model?.why], ['anthropic', 'key']);
});

test('a server without budgets has none', async (t) => {
  const { call } = await aServer(t, { bundles: [OUTCOMES] });
  assert.deepEqual((await call('GET', '/api/v1/budgets')).body, { budgets: [] });
});
