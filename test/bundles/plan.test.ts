import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { allPlugins } from '../../src/platform/bundle/all-plugins.ts';
import { createHost } from '../../src/platform/hosting/host.ts';
import { loadBundle, type LoadedBundle } from '../../src/platform/bundle/load.ts';
import { planOf, type BundlePlan } from '../../src/platform/bundle/plan.ts';
import { pricingOf } from '../../src/platform/models/pricing.ts';
import { inside } from '../cli/inside.ts';
import { ana } from '../runs/a-host.ts';
import { cachedModels } from '../support/cached-model.ts';
import { inFolder, load, loadOptions } from '../support/bundles.ts';

const bundle = (behaviour = '', tools = '', rest = '') => `
id: app
config: { react: { main: { system_prompt: "${'You are patient. '.repeat(400)}"${behaviour} } } }
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - { name: math, kind: module, module: builtin/math }
          ${tools}
models: { balanced: { provider: anthropic, model: claude-sonnet-4-6 } }
${rest}
`;

async function compared(before: string, after: string): Promise<BundlePlan> {
  const [old, now]: LoadedBundle[] = [await load(before), await load(after)];
  assert.ok(old !== undefined && now !== undefined);
  return planOf({
    before: old,
    after: now,
    known: allPlugins,
    clock: systemClock,
    price: pricingOf(undefined, systemClock),
  });
}
const told = ({ changes, agents }: BundlePlan) =>
  [...changes, ...agents.flatMap((agent) => agent.changes)].map(({ kind, what }) => `${kind}: ${what}`);

const time = '- { name: time, kind: module, module: builtin/time, allowed: [time_now] }';
const asks =
  '- { name: time, kind: module, module: builtin/time, allowed: [time_now], tool_traits: { time_now: { approval: ask } } }';
const needs =
  '- { name: time, kind: module, module: builtin/time, allowed: [time_now], tool_claims: { time_now: { provider: clock, claims: [read] } } }';
const haiku = ', supported_models: [{ provider: anthropic, model: claude-haiku-4-5 }]';

const policy = (rules: string): string =>
  `plugins: { active: [gate.approval_policy], gate.approval_policy: { rules: [${rules}] } }`;

const filter = 'plugins: { active: [gate.tool_filter], gate.tool_filter: { deny: [calculate] } }';

const edits: readonly (readonly [before: string, after: string, changes: readonly string[]])[] = [
  [bundle(), bundle(), []],
  [
    bundle(),
    bundle('', '', filter),
    [
      'narrows: the plugin gate.tool_filter is active',
      'narrows: calculate is refused',
      'rewrites: calculate is taken out of the prompts',
    ],
  ],
  [bundle(), bundle('', time), ['widens: the tool time_now (time) is granted', 'rewrites: time_now joins the tools']],
  [
    bundle('', time),
    bundle(),
    ['narrows: the tool time_now (time) is not granted any more', 'rewrites: time_now leaves the tools'],
  ],
  [bundle('', asks), bundle('', time), ['widens: time_now runs without asking a person']],
  [bundle('', time), bundle('', asks), ['narrows: time_now asks a person']],
  [bundle('', needs), bundle('', time), ['widens: time_now needs no connected account any more']],
  [bundle('', time), bundle('', needs), ['narrows: time_now needs clock: read']],
  [bundle(), bundle(haiku), ['widens: users may pick anthropic/claude-haiku-4-5']],
  [bundle(', max_iterations: 5'), bundle(', max_iterations: 9'), ['widens: max_iterations is 9 and not 5']],
  [bundle(), bundle(', additional_instructions: Hurry.'), ['rewrites: the additional instructions are others']],
  [bundle(), bundle(', render_thinking: false'), ['free: render_thinking is false']],
  [
    bundle('', '', 'plugins: { gate.endless_loop: { max_iterations: 5 } }'),
    bundle(', max_iterations: 25', '', 'plugins: { gate.endless_loop: { max_iterations: 6 } }'),
    [
      'widens: the settings of gate.endless_loop are others: see whether it lets more through',
      'widens: max_iterations is 25 and not 5',
    ],
  ],
  [
    bundle('', '', policy('{ tool: calculate, when: { n: { over: 50 } }, then: ask }')),
    bundle('', '', policy('{ tool: calculate, when: { n: { over: 90 } }, then: ask }')),
    [
      'widens: the settings of gate.approval_policy are others: see whether it lets more through',
      'widens: calculate asks a person when n is over 90; it was: asks a person when n is over 50',
    ],
  ],
  [
    bundle(),
    bundle('', '', policy('{ tool: calculate, then: deny }')),
    ['narrows: the plugin gate.approval_policy is active', 'narrows: calculate is refused'],
  ],
  [
    bundle('', '', policy('{ tool: calculate, then: deny }')),
    bundle(),
    ['widens: the plugin gate.approval_policy is not active any more', 'widens: calculate runs; it was: is refused'],
  ],
];
for (const [before, after, changes] of edits) {
  test(`an edit comes to ${JSON.stringify(changes)}`, async () => {
    assert.deepEqual(told(await compared(before, after)), changes);
  });
}

for (const [about, after] of [
  ['a tool is added', bundle('', time)],
  ['a gate takes a tool out of the prompts', bundle('', '', filter)],
] as const) {
  test(`an edit is priced over the conversations that are warm at the moment: ${about}`, async () => {
    await inFolder(bundle(), { 'new.yaml': after }, async (file, folder) => {
      const log = createMemoryLog({ clock: systemClock });
      const models = cachedModels([{ text: 'Yes.' }], systemClock);
      const host = await createHost({
        bundles: [file],
        log: { ...log, close: () => undefined },
        secret: 's',
        environment: {},
        models,
      });
      await host.start();
      const ids = await Promise.all(
        ['one', 'two'].map(async (prompt) => (await host.runs.create(ana, { prompt })).run.id),
      );
      for (const id of ids) for await (const _ of await host.runs.follow(ana, id, { until: 'ended' }));
      await host.close();
      const [old, now] = await Promise.all(
        [file, path.join(folder, 'new.yaml')].map((one) => loadBundle(one, loadOptions)),
      );
      assert.ok(old !== undefined && now !== undefined);
      const { agents } = await planOf({
        before: old,
        after: now,
        known: allPlugins,
        log,
        clock: systemClock,
        price: pricingOf(undefined, systemClock),
      });
      const [{ active, cold, consequence } = assert.fail()] = agents;
      assert.deepEqual([active, cold, consequence.kind, consequence.section], [2, 2, 'all', 'tools']);
      assert.ok(consequence.tokens > 3_000 && Number(consequence.money?.rebuild) > 0.01);
    });
  });
}

test('on the command line a plan and an explanation fit into 80 columns, and are JSON when asked', async () => {
  await inFolder(bundle(), { 'new.yaml': bundle(', max_iterations: 9', time) }, async (file, cwd) => {
    const edited = path.join(cwd, 'new.yaml');
    const plan = await inside(['plan', file, edited], { cwd });
    assert.match(plan.out, /widens\s+the tool time_now \(time\) is granted/);
    const explained = await inside(['explain', 'main', edited], { cwd });
    assert.match(
      explained.out,
      /tools time\n\s+time_now\n[^[]*new\.yaml:\d+:\d+\s+surfaces\.as_consumer\.agents\.main\.tools\[1\]/,
    );
    for (const { out, code } of [plan, explained]) {
      assert.equal(code, 0);
      assert.deepEqual(
        out.split('\n').filter((line) => line.length > 80),
        [],
      );
    }
    const json = await inside(['explain', edited, '--json'], { cwd });
    const { settings } = JSON.parse(json.out) as { settings: { key: string; value: unknown; from: string }[] };
    assert.deepEqual(settings.find(({ key }) => key === 'max_iterations')?.value, 9);
    const { agents } = JSON.parse((await inside(['plan', file, edited, '--json'], { cwd })).out) as BundlePlan;
    assert.equal(agents[0]?.changes.length, 3);
  });
});
