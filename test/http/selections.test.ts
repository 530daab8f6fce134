// Choices over HTTP: what the table says, refusals with a price, and whom they are not for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { API, selectionRoutes, type RouteShape } from '../../src/http/wire.ts';
import { createHost } from '../../src/platform/hosting/host.ts';
import { cachedModels } from '../support/cached-model.ts';
import { inFolder } from '../support/bundles.ts';
import { aServer, type Call, type Served } from './server.ts';

const yaml = `
id: app
config:
  react:
    main:
      system_prompt: "${'You are patient. '.repeat(400)}"
      supported_models: [{ provider: anthropic, model: claude-haiku-4-5, label: Haiku }]
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - { name: io, kind: module, module: builtin/io }
          - { name: time, kind: module, module: builtin/time, tool_claims: { time_now: { provider: clock, claims: [read] } } }
models:
  balanced: { provider: anthropic, model: claude-sonnet-4-6 }
`;

async function serving(t: Parameters<typeof aServer>[0], run: (served: Served) => Promise<void>): Promise<void> {
  await inFolder(yaml, {}, async (file) => {
    const log = createMemoryLog({ clock: systemClock });
    const models = cachedModels([{ text: 'Yes.' }], systemClock);
    const host = await createHost({ bundles: [file], log, secret: 'a secret', environment: {}, models });
    await host.start();
    t.after(() => host.close({ drainMs: 0 }));
    await run(await aServer(t, { wrap: () => host }));
  });
}

/** Asks by the name of a route, and holds the reply against its schema: no field may be missing or unknown. */
async function ask(
  { call }: Served,
  name: keyof typeof selectionRoutes,
  more: Call & { readonly query?: string } = {},
) {
  const shape: RouteShape = selectionRoutes[name];
  const { status, body } = await call(
    shape.method,
    `${API}${shape.path.replace('{agent}', 'main')}${more.query ?? ''}`,
    more,
  );
  assert.equal(status, shape.status, JSON.stringify(body));
  const parsed = shape.reply?.safeParse(body);
  assert.equal(parsed?.error?.message, undefined);
  assert.deepEqual(parsed?.data, body);
  return body;
}

const patch = { disabled: { tools: { time: true } } };

test('every route of choices answers as its table says', async (t) => {
  await serving(t, async (served) => {
    const id = await served.begin('hi');
    await served.rest(id);
    await ask(served, 'readCapabilities');
    const { consequences } = await ask(served, 'readCapabilities', { query: `?conversation=${id}` });
    assert.ok(Array.isArray(consequences) && consequences.length === 2);
    const { choices } = await ask(served, 'readConsequence', { body: { ...patch, conversation: id } });
    assert.deepEqual(choices, ['accept', 'defer_cold', 'defer_conversation']);
    const { pending } = await ask(served, 'changeSelection', {
      body: { ...patch, conversation: id, decision: 'defer_cold' },
    });
    assert.ok(Array.isArray(pending) && pending.length === 1);
    const { selection } = await ask(served, 'changeSelection', {
      body: { ...patch, conversation: id, decision: 'accept' },
    });
    assert.deepEqual((selection as typeof patch).disabled.tools, patch.disabled.tools);
  });
});

test('a change that costs is refused with its price and what can be decided', async (t) => {
  await serving(t, async (served) => {
    const id = await served.begin('hi');
    await served.rest(id);
    const { status, code, body } = await served.call('PATCH', `${API}/agents/main/selection`, {
      body: { ...patch, conversation: id },
    });
    assert.deepEqual([status, code], [409, 'confirmation_required']);
    const { details } = body['error'] as {
      details: { parts: { consequence: Record<string, unknown> }[]; choices: string[] };
    };
    const { kind, section, tokens, money, assumes } = details.parts[0]?.consequence ?? {};
    assert.deepEqual([kind, section, typeof tokens], ['all', 'tools', 'number']);
    assert.match(JSON.stringify(money), /"rebuild":"0\.0\d+"/);
    assert.match(JSON.stringify(assumes), /"warmUntil":"20\d\d-.*Z"/);
    assert.deepEqual(details.choices, ['accept', 'defer_cold', 'defer_conversation']);
  });
});

const wrong: readonly (readonly [about: string, body: unknown, status: number, code: string])[] = [
  ['a key that nothing reads', { enabled: { tools: {} } }, 422, 'invalid_request'],
  ['a toggle that is no toggle', { disabled: { tools: { time: 'off' } } }, 422, 'invalid_request'],
  ['a decision that nobody knows', { ...patch, decision: 'confirm' }, 422, 'invalid_request'],
  ['a conversation that is nobody’s', { ...patch, conversation: 'run_none' }, 404, 'not_found'],
];
for (const [about, body, status, code] of wrong) {
  test(`${about} is ${status} ${code}`, async (t) => {
    await serving(t, async ({ call }) => {
      const reply = await call('PATCH', `${API}/agents/main/selection`, { body });
      assert.deepEqual([reply.status, reply.code], [status, code]);
    });
  });
}

test('an agent that nobody serves is 422', async (t) => {
  await serving(t, async ({ call }) => {
    const { status, code } = await call('GET', `${API}/agents/mian/capabilities`);
    assert.deepEqual([status, code], [422, 'agent_unknown']);
  });
});

test('law 11: a key of a sandbox, and one that may only read, change nothing', async (t) => {
  await serving(t, async ({ call, key }) => {
    const compute = await call('PATCH', `${API}/agents/main/selection`, {
      body: patch,
      as: await key({ kind: 'compute' }),
    });
    assert.deepEqual([compute.status, compute.code], [403, 'compute_forbidden']);
    const reader = await call('PATCH', `${API}/agents/main/selection`, {
      body: patch,
      as: await key({ scopes: ['read'] }),
    });
    assert.deepEqual([reader.status, reader.code], [403, 'insufficient_scope']);
  });
});
