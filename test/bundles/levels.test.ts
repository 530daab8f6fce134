import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effective, load } from '../support/bundles.ts';

const levels = `
config:
  role_models:
    balanced: {provider: openai, model: of-the-app}
    quick: {provider: openai, model: quick-of-the-app}
  react:
    main: {max_iterations: 5, tool_choice: required}
    default_agent: {max_iterations: 6, max_faults: 1, role_models: {balanced: {provider: openai, model: of-the-agents}}}
    default: {max_faults: 2, max_actions: 3, system_prompt: Shared.}
    other: {system_prompt: Own., model_role: quick}
models:
  balanced: {provider: openai, model: of-models}
  reasoning: [quick, {provider: anthropic, model: last, max_tokens: 9}]
`;

test('each key comes from the nearest level that sets it', async () => {
  const bundle = await load(levels);
  const main = await effective(bundle, 'main');
  const { maxIterations, maxFaults, maxActions } = main.limits;
  assert.deepEqual([maxIterations, maxFaults, maxActions], [5, 1, 3]);
  assert.deepEqual([main.instructions, main.toolChoice], ['Shared.', { mode: 'required' }]);
  const other = await effective(bundle, 'other');
  assert.deepEqual([other.limits.maxIterations, other.instructions, other.toolChoice], [6, 'Own.', undefined]);
});

test('explain names the place of each value', async () => {
  const rows = (await load(levels)).explain('main');
  const from = (key: string) => rows.find((row) => row.key === key)?.from.replace(/^.*app\.yaml/, 'app.yaml');
  assert.equal(from('max_iterations'), 'app.yaml:7:12  config.react.main.max_iterations');
  assert.equal(from('max_faults'), 'app.yaml:8:40  config.react.default_agent.max_faults');
  assert.equal(from('system_prompt'), 'app.yaml:9:46  config.react.default.system_prompt');
  assert.equal(from('max_concurrent'), 'default');
});

test('explain shows variables by their names', async () => {
  const bundle = await load(
    'config: {react: {main: {system_prompt: "Key ${SECRET}"}}}',
    {},
    {
      environment: { SECRET: 'hunter2' },
    },
  );
  assert.equal((await effective(bundle)).instructions, 'Key hunter2');
  assert.equal(bundle.explain('main').find(({ key }) => key === 'system_prompt')?.value, 'Key ${SECRET}');
});

test("a role is the agent's own, then the app's, then that of models", async () => {
  const bundle = await load(levels);
  const models = async (agent: string) => (await effective(bundle, agent)).models.map(({ model }) => model);
  assert.deepEqual(await models('main'), ['of-the-agents']);
  assert.deepEqual(await models('other'), ['quick-of-the-app']);
});

test('a chain of models may go on in another role', async () => {
  const bundle = await load(`${levels}  default: reasoning\n`);
  const { role, models } = await effective(bundle, 'main');
  assert.equal(role, 'reasoning');
  assert.deepEqual(models, [
    { provider: 'openai', model: 'quick-of-the-app' },
    { provider: 'anthropic', model: 'last', maxTokens: 9 },
  ]);
});

test('the decision role is model_role, else models.default, else balanced', async () => {
  const ref = '{provider: openai, model: m}';
  const role = async (yaml: string) => (await effective(await load(yaml))).role;
  assert.equal(
    await role(
      `models: {default: quick, quick: ${ref}}\nconfig: {react: {main: {model_role: own}}, role_models: {own: ${ref}}}`,
    ),
    'own',
  );
  assert.equal(await role(`models: {default: quick, quick: ${ref}}`), 'quick');
  assert.equal(await role(`models: {default: ${ref}}`), 'default');
  assert.equal(await role(`models: {balanced: ${ref}}`), 'balanced');
});

test('a bundle that says nothing is an agent called main with a model that is found by its key', async () => {
  const bundle = await load('id: bare@1');
  const agent = await effective(bundle);
  assert.deepEqual([bundle.agents, agent.bundle, agent.role], [['main'], 'bare@1', 'balanced']);
  assert.deepEqual(agent.models, [{ provider: 'auto', model: 'auto' }]);
  assert.deepEqual([agent.limits.maxIterations, agent.limits.maxConcurrent], [25, 1]);
});

test("the gate's cap is the limit of an agent that sets none", async () => {
  const plugins = 'plugins: {gate.endless_loop: {max_iterations: 40}}\n';
  const cap = async (yaml: string) => (await effective(await load(yaml))).limits.maxIterations;
  assert.equal(await cap(plugins), 40);
  assert.equal(await cap(`${plugins}config: {react: {main: {max_iterations: 9}}}`), 9);
});

test('tool choice is written as a word, as an object, or as a sequence', async () => {
  const choice = async (text: string) =>
    (await effective(await load(`config: {react: {main: {tool_choice: ${text}}}}`))).toolChoice;
  assert.deepEqual(await choice('any'), { mode: 'required' });
  assert.deepEqual(await choice('{mode: none}'), { mode: 'none' });
  assert.deepEqual(await choice('{sequence: [required, {mode: auto}]}'), [{ mode: 'required' }, { mode: 'auto' }]);
});

test('planning may be written as an object, and off', async () => {
  const planner = 'plugins: {active: [planner.static], planner.static: {steps: [look]}}\n';
  const planning = async (text: string) =>
    (await effective(await load(`${planner}config: {react: {main: {planning: ${text}}}}`))).planning;
  assert.deepEqual(await planning('{approval: always, placement: system}'), {
    approval: 'always',
    placement: 'system',
  });
  assert.equal(await planning('{enabled: false, approval: always}'), undefined);
});

test('an agent is found by its id, and the default one without', async () => {
  const bundle = await load('surfaces: {as_consumer: {default_agent: b, agents: {a: {}, b: {}}}}');
  assert.deepEqual([bundle.agentNamed(), bundle.agentNamed('a')], ['b', 'a']);
  assert.throws(() => bundle.agentNamed('bb'), /no agent "bb"; did you mean b \(bundle_unknown_name\)/);
});
