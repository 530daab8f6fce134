// Nothing that a model can call changes a grant, a selection, a gate or a budget: not a tool, not a service, not an agent
// below, not this server itself, which an agent may be granted as an MCP server like any other.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ScriptFunction } from '../../src/adapters/models/script.ts';
import { createMemoryControlStore } from '../../src/adapters/stores/control/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import { randomIds } from '../../src/base/ids.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { startServer } from '../../src/http/server.ts';
import { statusKind } from '../../src/domain/status.ts';
import type { Host } from '../../src/platform/hosting/host.ts';
import { aCaller, withHost, type HostFixture } from './a-host.ts';

const me = aCaller({ userId: 'local' });
const GROUPS = ['io', 'context', 'math', 'time', 'ask_user', 'todo', 'notes'];

/** Two agents with all that a model can be given, one of them in each other's hands and in those of this very server. */
const bundle = (url: string): string =>
  JSON.stringify({
    id: 'post',
    config: { react: { default_agent: { parallel_tools: true, subagents: true, max_iterations: 4 } } },
    surfaces: {
      as_consumer: {
        default_agent: 'main',
        agents: {
          default_agent: {
            tools: [
              ...GROUPS.map((name) => ({ name, kind: 'module', module: `builtin/${name}` })),
              { name: 'post', kind: 'module', module: './post.tool.js', tool_traits: { mail: { approval: 'ask' } } },
              { name: 'self', kind: 'mcp' },
            ],
          },
          main: {},
          clerk: {},
        },
        mcp: { services: { self: { transport: 'http', url: `${url}/mcp` } } },
      },
    },
    models: { balanced: { provider: 'scripted', model: 'scripted' } },
    plugins: { 'gate.endless_loop': { max_iterations: 4 } },
  });

interface Step {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** Names as they may come to a model: those it has, and those of what it would need to have more. */
const names = fc.constantFrom(
  ...[
    'calculate',
    'tool_call',
    'mail',
    'look',
    'delegate',
    'ask_user',
    'self_main',
    'self_clerk',
    'notes_write',
    'todo',
  ],
  ...['agent_selection_update', 'agent_capabilities', 'selection', 'approve', 'allowances_revoke', 'set_budget'],
  ...['gate.tool_approval', 'settings', 'PATCH /api/v1/agents/main/selection', 'keys_create', '__proto__'],
);
const values = fc.oneof(
  fc.constantFrom('main', 'clerk', 'mail bo', 'tools', 'always', 'go', '1+1', 'math', 'off'),
  fc.constantFrom(true, false, null, 0, -1, 1e9),
  fc.constant({ tools: { math: false, post: false }, mcp: { self: false } }),
  fc.constant({ scope: 'always', max_iterations: 1_000 }),
);
const keys = fc.constantFrom(
  ...['agent', 'task', 'prompt', 'name', 'expression', 'to', 'text', 'question', 'disabled', 'decision', 'allow'],
  ...['limits', 'max_iterations', 'patch', 'run', 'request', 'tool', '__proto__'],
);
const calls: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({ name: names, arguments: fc.dictionary(keys, values, { maxKeys: 4 }) }), // JSON by what it is made of
  { minLength: 1, maxLength: 6 },
);

let planned: readonly Step[] = [];
let plays = 0;
const MOST_PLAYS = 3;
/** Plays what is planned also in runs below, and in those that came by way of this server, some levels deep. */
const play: ScriptFunction = ({ step }) =>
  step === 0 && plays++ < MOST_PLAYS && planned.length > 0 ? { actions: [...planned] } : { text: 'Done.' };

/** All that says what anybody may do, as those see it who may change it. */
async function rights(host: Host, control: Control): Promise<unknown> {
  const { selections, accounts, allowances, bundles } = host;
  const menus = await Promise.all(
    ['main', 'clerk'].map(async (agent) => {
      const { groups, selection, pending, policy, scope } = await selections.capabilities(me, agent);
      return { groups, selection, pending, policy, scope };
    }),
  );
  return structuredClone({
    menus,
    accounts: await accounts.list(me),
    allowances: await allowances.list(me),
    agents: host.agents(),
    gates: bundles.map(({ manifests, loaded }) => [
      JSON.stringify(manifests),
      loaded.revision,
      loaded.plugins.map(({ id, config }) => [id, JSON.stringify(config)]),
    ]),
    keys: control.list(),
  });
}

type Control = ReturnType<typeof createMemoryControlStore>;

/** Runs what is planned to where it ends or waits, and stops it there. */
async function carriedOut({ host, until }: HostFixture, steps: readonly Step[]): Promise<readonly string[]> {
  [planned, plays] = [steps, 0];
  const { run } = await host.runs.create(me, { prompt: 'go', agent: 'main' });
  const rested = await until(run.id, ({ status, requests }) => statusKind(status) === 'ended' || requests.length > 0);
  if (statusKind(rested.status) !== 'ended') await host.runs.stop(me, run.id);
  planned = [];
  await until(run.id, ({ terminal }) => terminal);
  return rested.children.map(({ id }) => id);
}

async function served(more: { readonly widens?: boolean }, check: (world: World) => Promise<void>): Promise<void> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const control = createMemoryControlStore({ clock: systemClock });
  const options = { script: play, bundle: bundle(url), selections: control, allowances: control };
  await withHost(options, async (fixture) => {
    const { host } = fixture;
    const server = await startServer({
      ...{
        host,
        control,
        clock: systemClock,
        ids: randomIds,
        logger: silent,
        version: '0',
        cors: [],
        check: () => undefined,
      },
      hostname: '127.0.0.1',
      port,
    });
    try {
      // What is off has to stay off.
      await host.selections.update(me, 'main', { patch: { disabled: { tools: { math: true, post: ['look'] } } } });
      if (more.widens === true) {
        // Somebody wires a tool to the operation that only a person may have.
        Object.assign(globalThis, {
          treadleTestMail: {
            push: () => host.selections.update(me, 'main', { patch: { disabled: { tools: { math: false } } } }),
          },
        });
      }
      await check({ fixture, now: () => rights(host, control) });
    } finally {
      await server.close({ drainMs: 0 });
    }
  });
}

interface World {
  readonly fixture: HostFixture;
  readonly now: () => Promise<unknown>;
}

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const holds = ({ fixture, now }: World) =>
  fc.asyncProperty(calls, async (steps) => {
    const before = await now();
    await carriedOut(fixture, steps);
    assert.deepEqual(await now(), before);
    // Nor did the turn have anything that the menu did not.
    const { conversation } = await latest(fixture);
    const had = new Set(conversation.map(({ name }) => name));
    for (const off of ['calculate', 'look']) assert.ok(!had.has(off), off);
  });

/** What the newest run's turn could call. */
async function latest({
  host,
  log,
}: HostFixture): Promise<{ readonly conversation: readonly { readonly name: string }[] }> {
  const { runs } = await host.runs.list(me, { limit: 1 });
  const facts = await log.read(runs[0]?.id ?? '', 0, 1_000);
  const start = facts.find(({ type }) => type === 'agent.turn.start')?.payload as {
    agent?: { tools: { name: string }[] };
  }; // of that type
  return { conversation: start.agent?.tools ?? [] };
}

test('B123 nothing that a model calls, by whatever door, changes what anybody may do', async () => {
  await served({}, async (world) => {
    await fc.assert(holds(world), { numRuns: 30 });
    // The doors are open: each of them was gone through at least here.
    const through = ['delegate', 'self_clerk', 'tool_call'].map((name) => ({
      name,
      arguments: { agent: 'clerk', task: 'go', prompt: 'go', name: 'mail' },
    }));
    const delegated = await carriedOut(world.fixture, [
      { name: 'delegate', arguments: { agent: 'clerk', task: 'go' } },
    ]);
    assert.equal(delegated.length, 1);
    const before = await world.now();
    await carriedOut(world.fixture, through);
    assert.deepEqual(await world.now(), before);
  });
});

test('a tool that could change what its user switched off is found out', async () => {
  await served({ widens: true }, async (world) => {
    const unasked = fc.constant([{ name: 'delegate', arguments: { agent: 'clerk', task: 'go' } }] as const);
    await assert.rejects(
      fc.assert(
        fc.asyncProperty(fc.oneof(calls, unasked), async () => {
          const before = await world.now();
          [planned, plays] = [[{ name: 'mail', arguments: { to: 'bo' } }], 0];
          const { run } = await world.fixture.host.runs.create(me, { prompt: 'go', agent: 'main' });
          const { requests } = await world.fixture.until(run.id, (one) => one.requests.length > 0);
          const [request] = requests;
          if (request !== undefined)
            await world.fixture.host.runs.answer(me, run.id, [
              { request: request.id, digest: request.digest, decision: 'allow' },
            ]);
          await world.fixture.until(run.id, ({ terminal }) => terminal);
          planned = [];
          assert.deepEqual(await world.now(), before);
        }),
        { numRuns: 2 },
      ),
      /Property failed/,
    );
  });
});
