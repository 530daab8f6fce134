import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { loadBundle } from '../../src/platform/bundle/load.ts';
import { effective, load, loadOptions, noticesOf } from '../support/bundles.ts';

const fixtures = path.join(import.meta.dirname, '../fixtures/bundles');
const printed = (name: string) => loadBundle(path.join(fixtures, name), loadOptions);

test('the example of the KDCube page loads as printed', async () => {
  const bundle = await printed('kdcube.yaml');
  const agent = await effective(bundle);
  assert.deepEqual([bundle.id, bundle.agents, bundle.defaultAgent], ['kdcube', ['main'], 'main']);
  assert.equal(agent.instructions, '[HOUSE STYLE]\nCite sources as browsable URLs.');
  assert.equal(agent.limits.maxIterations, 15);
  assert.deepEqual(
    agent.tools.map(({ name, group }) => [name, group]),
    [
      ['tool_call', 'io_tools'],
      ['web_fetch', 'web_tools'],
    ],
  );
  assert.deepEqual(agent.models, [{ provider: 'anthropic', model: 'claude-sonnet-4-6' }]);
});

test('a tool of the KDCube example that its entry does not set up is inactive, and says so', async () => {
  const bundle = await printed('kdcube.yaml');
  const agent = await effective(bundle);
  assert.deepEqual(agent.inactive, [
    {
      name: 'web_search',
      why: 'nobody is named to be asked; set config: { search: { provider: brave, api_key: … } } in the entry of the group',
    },
  ]);
  const tools = 'kdcube.yaml:24:15  config.surfaces.as_consumer.agents.main.tools';
  assert.deepEqual(noticesOf(bundle), [
    `${tools}[0].module: the Python group io_tools is mapped to builtin/io`,
    'kdcube.yaml:29:15  config.surfaces.as_consumer.agents.main.tools[1].module: the Python group web_tools is mapped to builtin/web',
    'kdcube.yaml:9:7  config.react.default_agent.supported_models: no model is declared for balanced: the first of supported_models is used',
    'kdcube.yaml:33:13  config.surfaces.as_consumer.agents.main.skills.custom_root: there is no folder "skills": the agent has no skills',
  ]);
});

test('the example of the Nexus page loads as printed, and says that nobody plans', async () => {
  const bundle = await printed('nexus.yaml');
  const agent = await effective(bundle);
  assert.deepEqual([bundle.agents, agent.role, agent.planning], [['main'], 'balanced', undefined]);
  assert.match(agent.instructions, /^You are a coding assistant powered by Nexus\..*conventions of the project$/s);
  assert.deepEqual(agent.toolChoice, [{ mode: 'required' }, { mode: 'auto' }]);
  assert.deepEqual(agent.models, [{ provider: 'auto', model: 'auto' }]);
  assert.deepEqual(noticesOf(bundle), [
    'nexus.yaml:3:3  ["nexus.agent.react"].planning: planning needs a planner plugin, none is active: planning is off',
    'nexus.yaml: no models are declared: the provider is chosen by the keys that there are',
  ]);
});

test('the sequence of the Nexus page loads as printed, and says that there is no shell', async () => {
  const bundle = await printed('nexus-sequence.yaml');
  assert.deepEqual((await effective(bundle)).toolChoice, [
    { mode: 'required' },
    { mode: 'tool', name: 'shell' },
    { mode: 'auto' },
  ]);
  assert.match(noticesOf(bundle)[0] ?? '', /tool_choice names "shell", which main does not have: the model is free/);
});

test('the block of the Nexus page says the same under plugins, with and without the prefix', async () => {
  for (const id of ['nexus.agent.react', 'agent.react']) {
    const agent = await effective(await load(`plugins: {${id}: {max_iterations: 7, parallel_tools: true}}`));
    assert.deepEqual([agent.limits.maxIterations, agent.limits.maxConcurrent], [7, 4], id);
  }
});

test('with a planner, the planning of the Nexus block is on', async () => {
  const yaml = `
nexus.agent.react: {planning: true}
plugins:
  active: [nexus.planner.static, nexus.control.cancel]
  nexus.planner.static: {steps: [look, act]}
`;
  const bundle = await load(yaml);
  assert.deepEqual((await effective(bundle)).planning, { approval: 'never', placement: 'announce' });
  assert.deepEqual(
    bundle.plugins.map(({ id }) => id),
    ['gate.endless_loop', 'gate.tool_approval', 'gate.changed_tool', 'planner.static'],
  );
});
