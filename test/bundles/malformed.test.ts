// What an operator reads when a bundle is wrong: one line for each mistake, with the place, what is there, what was
// wanted and what to do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allPlugins } from '../../src/platform/bundle/all-plugins.ts';
import { builtinGroups } from '../../src/platform/bundle/builtins.ts';
import { problemsOf } from '../support/bundles.ts';

interface Mistake {
  readonly title: string;
  readonly yaml: string;
  readonly says: readonly string[];
}

/** A bundle with one agent that behaves so. */
const agent = (keys: string) => `config: {react: {main: {${keys}}}}\n`;

/** A bundle with one agent that is granted so. */
const tools = (entry: string, more = '') =>
  `surfaces:\n  as_consumer:\n    agents:\n      main:\n        tools:\n          - ${entry}\n${more}`;

const environment = { SECRET: 'hunter2' };
const plugins = allPlugins.map(({ id }) => id).join(', ');
const groups = [...builtinGroups.keys(), 'agent'];

const mistakes: readonly Mistake[] = [
  {
    title: 'an empty file',
    yaml: '',
    says: ['app.yaml: found an empty file, wanted a bundle; start with `id:` (bundle_yaml)'],
  },
  {
    title: 'a file of comments alone',
    yaml: `# nothing
`,
    says: ['app.yaml: found an empty file, wanted a bundle; start with `id:` (bundle_yaml)'],
  },
  {
    title: 'a variable that is not set, beside all else',
    yaml: agent('system_prompt: "${NOPE}", model_role: nowhere, max_iteratons: 3'),
    says: [
      'app.yaml:1:40  config.react.main.system_prompt: found ${NOPE}, which is not set; set NOPE, or give a default: ${NOPE:-default}, or write $${ for the two characters themselves (bundle_env_missing)',
      'app.yaml:1:72  config.react.main.max_iteratons: found a key that nothing reads; did you mean max_iterations (bundle_unknown_key)',
    ],
  },
  {
    title: 'text that is not YAML',
    yaml: 'a: [1,',
    says: [
      'app.yaml:1:7: found Flow sequence in block collection must be sufficiently indented and end with a ], wanted well-formed YAML (bundle_yaml)',
    ],
  },
  {
    title: 'a key twice',
    yaml: `id: a
id: b
`,
    says: ['app.yaml:2:1: found the key id a second time, wanted each key once (bundle_yaml)'],
  },
  {
    title: 'a tab for indentation',
    yaml: `config:
	react: {}
`,
    says: ['app.yaml:2:1: found a tab as indentation, wanted spaces (bundle_yaml)'],
  },
  {
    title: 'an alias of nothing',
    yaml: `id: *x
`,
    says: ['app.yaml:1:5  id: found an alias of nothing, *x, wanted an anchor &x before it (bundle_yaml)'],
  },
  {
    title: 'an alias that contains itself',
    yaml: `config: &x {react: *x}
`,
    says: ['app.yaml:1:12  config.react: found an alias that contains itself, wanted a value (bundle_yaml)'],
  },
  {
    title: 'a key that is a list',
    yaml: `? [a]
: 1
`,
    says: ['app.yaml:1:3: found a key that is a list or a mapping, wanted a word (bundle_yaml)'],
  },
  {
    title: 'a tag of a programming language',
    yaml: `id: !!js/function x
`,
    says: ['app.yaml:1:5: found the tag js/function, wanted a value without a tag (bundle_yaml)'],
  },
  {
    title: 'a directive for YAML 1.1',
    yaml: `%YAML 1.1
---
id: x
`,
    says: ['app.yaml:1:1: found a %YAML directive, wanted YAML 1.2; remove the directive (bundle_yaml)'],
  },
  {
    title: 'two documents',
    yaml: `id: a
---
id: b
`,
    says: ['app.yaml:2:1: found a second document, wanted one document a file (bundle_yaml)'],
  },
  {
    title: 'a list instead of a bundle',
    yaml: `- id
`,
    says: ['app.yaml:1:1: found an array, wanted an object (bundle_invalid)'],
  },
  {
    title: 'a key that names a prototype',
    yaml: `__proto__: {a: 1}
`,
    says: ['app.yaml:1:1  __proto__: found a key called __proto__, wanted another name (bundle_yaml)'],
  },
  {
    title: 'a merge key',
    yaml: `config: {react: {a: &a {}, b: {<<: *a}}}
`,
    says: [
      'app.yaml:1:36  config.react.b["<<"]: found a key that nothing reads; YAML 1.2 has no merge keys; share keys under default_agent (bundle_unknown_key)',
    ],
  },
  {
    title: 'a misspelt key',
    yaml: `confg: {}
`,
    says: ['app.yaml:1:1  confg: found a key that nothing reads; did you mean config (bundle_unknown_key)'],
  },
  {
    title: 'a key far from any other',
    yaml: `zebra: 1
`,
    says: [
      'app.yaml:1:1  zebra: found a key that nothing reads, wanted one of id, config, surfaces, models, plugins, nexus.agent.react, prices, accounts (bundle_unknown_key)',
    ],
  },
  {
    title: 'a whole number in quotes',
    yaml: agent('max_iterations: "15"'),
    says: [
      'app.yaml:1:41  config.react.main.max_iterations: found string "15", wanted a number; write it without quotes (bundle_invalid)',
    ],
  },
  {
    title: 'a limit of zero',
    yaml: agent('max_iterations: 0'),
    says: ['app.yaml:1:41  config.react.main.max_iterations: found number 0, wanted at least 1 (bundle_invalid)'],
  },
  {
    title: 'a negative limit',
    yaml: agent('max_faults: -1'),
    says: ['app.yaml:1:37  config.react.main.max_faults: found number -1, wanted at least 0 (bundle_invalid)'],
  },
  {
    title: 'an enormous limit',
    yaml: agent('max_concurrent: 1e9'),
    says: [
      'app.yaml:1:41  config.react.main.max_concurrent: found number 1000000000, wanted at most 64 (bundle_invalid)',
    ],
  },
  {
    title: 'half an iteration',
    yaml: agent('max_actions: 1.5'),
    says: ['app.yaml:1:38  config.react.main.max_actions: found number 1.5, wanted a whole number (bundle_invalid)'],
  },
  {
    title: 'the yes of YAML 1.1',
    yaml: agent('parallel_tools: yes'),
    says: [
      'app.yaml:1:41  config.react.main.parallel_tools: found string "yes", wanted true or false; YAML 1.2 knows only true and false (bundle_invalid)',
    ],
  },
  {
    title: 'a word that is no choice',
    yaml: agent('tool_choice: sometimes'),
    says: [
      'app.yaml:1:38  config.react.main.tool_choice: found string "sometimes", wanted one of "auto", "required", "any", "none", or an object (bundle_invalid)',
    ],
  },
  {
    title: 'a tool choice without its name',
    yaml: agent('tool_choice: {mode: tool}'),
    says: [
      'app.yaml:1:38  config.react.main.tool_choice.name: found no name, wanted the name of a tool (bundle_invalid)',
    ],
  },
  {
    title: 'a name without its tool choice',
    yaml: agent('tool_choice: {mode: auto, name: x}'),
    says: [
      'app.yaml:1:57  config.react.main.tool_choice.name: found mode auto with a name, wanted mode tool (bundle_conflict)',
    ],
  },
  {
    title: 'an empty sequence',
    yaml: agent('tool_choice: {sequence: []}'),
    says: [
      'app.yaml:1:49  config.react.main.tool_choice.sequence: found an empty array, wanted at least 1 item (bundle_invalid)',
    ],
  },
  {
    title: 'a choice of a tool that is not granted',
    yaml: agent('tool_choice: {mode: tool, name: shell}'),
    says: [
      'app.yaml:1:51  config.react.main.tool_choice.name: found no tool "shell", wanted none: there is nothing to name (bundle_unknown_name)',
    ],
  },
  {
    title: 'two ways to write the system prompt',
    yaml: agent('system_prompt: a, instructions: b'),
    says: [
      'app.yaml:1:43  config.react.main.instructions: found system_prompt and instructions, wanted one of them: they are ways to write the same (bundle_conflict)',
    ],
  },
  {
    title: 'compaction without a memory plugin',
    yaml: agent('context_cold_tokens: 5000'),
    says: [
      'app.yaml:1:25  config.react.main.context_cold_tokens: found compaction without a memory plugin, wanted an active memory plugin; add memory.compaction to plugins.active, or remove this (bundle_conflict)',
    ],
  },
  {
    title: 'a role for summaries that is not there',
    yaml: 'plugins: {active: [memory.compaction], memory.compaction: {role: quik}}\n',
    says: [
      'app.yaml:1:60  plugins["memory.compaction"].role: found no role "quik"; did you mean quick (bundle_unknown_name)',
    ],
  },
  {
    title: 'planning without a planner',
    yaml: agent('planning: true'),
    says: [
      'app.yaml:1:25  config.react.main.planning: found planning without a planner plugin, wanted an active planner; add planner.static to plugins.active, or write planning: false (bundle_conflict)',
    ],
  },
  {
    title: 'a key of a later version',
    yaml: agent('debug_timeline: {enabled: true}'),
    says: [
      'app.yaml:1:25  config.react.main.debug_timeline: found a key that is not supported yet; remove it (bundle_not_supported)',
    ],
  },
  {
    title: 'an account without a client and a server',
    yaml: `accounts: {slack: {type: oauth2}}
`,
    says: ['app.yaml:1:19  accounts.slack.client_id: found nothing, wanted a string (bundle_invalid)'],
  },
  {
    title: 'a version that YAML reads as a number',
    yaml: `id: 1.0
`,
    says: ['app.yaml:1:5  id: found number 1, wanted a string; put it in quotes (bundle_invalid)'],
  },
  {
    title: 'a variable that is not set',
    yaml: `id: \${APP}
`,
    says: [
      'app.yaml:1:5  id: found ${APP}, which is not set; set APP, or give a default: ${APP:-default}, or write $${ for the two characters themselves (bundle_env_missing)',
    ],
  },
  {
    title: 'a dollar and a bracket that are no variable',
    yaml: agent('system_prompt: "say ${not a name}"'),
    says: [
      'app.yaml:1:40  config.react.main.system_prompt: found ${ without a variable, wanted ${NAME} or ${NAME:-default}; write $${ for the two characters themselves (bundle_invalid)',
    ],
  },
  {
    title: 'a secret that is no choice',
    yaml: agent('on_limit: "${SECRET}"'),
    says: [
      'app.yaml:1:35  config.react.main.on_limit: found string "${SECRET}", wanted one of "end", "error", "wrap_up" (bundle_invalid)',
    ],
  },
  {
    title: 'a secret that names no role',
    yaml: agent('model_role: "${SECRET}"'),
    says: [
      'app.yaml:1:25  config.react.main.model_role: found no role "${SECRET}", wanted one of balanced, reasoning, quick (bundle_unknown_name)',
    ],
  },
  {
    title: 'a role that nobody declares',
    yaml: 'models: {balanced: {provider: openai, model: m}}\n' + agent('model_role: balancd'),
    says: [
      'app.yaml:2:25  config.react.main.model_role: found no role "balancd"; did you mean balanced (bundle_unknown_name)',
    ],
  },
  {
    title: 'a circle of roles',
    yaml: 'models: {default: a, a: b, b: [a]}\n',
    says: [
      'app.yaml:1:32  models.b[0]: found a circle of roles, a → b → a, wanted a model at its end (bundle_conflict)',
    ],
  },
  {
    title: 'a misspelt provider',
    yaml: 'models: {balanced: {provider: antropic, model: m}}\n',
    says: [
      'app.yaml:1:21  models.balanced.provider: found no provider "antropic"; did you mean anthropic (bundle_unknown_name)',
    ],
  },
  {
    title: 'a model without a name',
    yaml: 'models: {balanced: {provider: openai}}\n',
    says: [
      `app.yaml:1:20  models.balanced.model: found no model, wanted the name of one of openai's models (bundle_invalid)`,
    ],
  },
  {
    title: 'a key in the bundle',
    yaml: `models: {balanced: {provider: openai, model: m, api_key: sk-1}}
`,
    says: [
      'app.yaml:1:49  models.balanced.api_key: found a key that nothing reads; a key is read from the environment; name the variable with api_key_env (bundle_unknown_key)',
    ],
  },
  {
    title: 'a file outside the folder',
    yaml: agent('system_prompt_file: ../secret.txt'),
    says: [
      'app.yaml:1:25  config.react.main.system_prompt_file: found "../secret.txt", wanted a file in the folder of the bundle; move the file there and write a relative path (bundle_unreadable)',
    ],
  },
  {
    title: 'an absolute file',
    yaml: agent('system_prompt_file: /etc/passwd'),
    says: [
      'app.yaml:1:25  config.react.main.system_prompt_file: found "/etc/passwd", wanted a file in the folder of the bundle; move the file there and write a relative path (bundle_unreadable)',
    ],
  },
  {
    title: 'a file that is not there',
    yaml: agent('system_prompt_file: prompt.md'),
    says: [
      'app.yaml:1:25  config.react.main.system_prompt_file: found no such file as "prompt.md", wanted a file that can be read (bundle_unreadable)',
    ],
  },
  {
    title: 'a script that is not there',
    yaml: `models: {balanced: {provider: scripted, script: ./x.json}}
`,
    says: [
      'app.yaml:1:41  models.balanced.script: found no such file as "./x.json", wanted a file that can be read (bundle_unreadable)',
    ],
  },
  {
    title: 'an unknown plugin',
    yaml: `plugins: {active: [gate.endles_loop]}
`,
    says: [
      'app.yaml:1:20  plugins.active[0]: found no plugin "gate.endles_loop"; did you mean gate.endless_loop (bundle_unknown_name)',
    ],
  },
  {
    title: 'a plugin of a later version',
    yaml: `plugins: {active: [control.hitl]}
`,
    says: [
      `app.yaml:1:20  plugins.active[0]: found control.hitl, a plugin that is not supported yet; remove it; there is ${plugins}, control.cancel, skills, agent.react (bundle_not_supported)`,
    ],
  },
  {
    title: 'a bad configuration of a plugin',
    yaml: `plugins: {gate.endless_loop: {max_iterations: 0, every: 1}}
`,
    says: [
      'app.yaml:1:31  plugins["gate.endless_loop"].max_iterations: found number 0, wanted at least 1 (plugin_config)',
      'app.yaml:1:50  plugins["gate.endless_loop"].every: found a key that gate.endless_loop does not read, wanted one of max_iterations, warning_at (plugin_config)',
    ],
  },
  {
    title: 'a slip in a key of a plugin',
    yaml: `plugins: {gate.endless_loop: {max_iteration: 5}}
`,
    says: [
      'app.yaml:1:31  plugins["gate.endless_loop"].max_iteration: found a key that gate.endless_loop does not read; did you mean max_iterations (plugin_config)',
    ],
  },
  {
    title: 'a compatible server without an address',
    yaml: `models: {balanced: {provider: openai-compatible, model: x}}
`,
    says: [
      'app.yaml:1:21  models.balanced.provider: found a server without an address, wanted base_url, where the server is (bundle_invalid)',
    ],
  },
  {
    title: 'a plugin that needs a configuration',
    yaml: `plugins: {active: [planner.static]}
`,
    says: [
      'app.yaml:1:20  plugins.active[0]: found no steps, wanted an array; write it under plugins: planner.static: {…} (plugin_config)',
    ],
  },
  {
    title: 'keys of a plugin that is not active',
    yaml: `plugins: {planner.static: {steps: [a]}}
`,
    says: [
      'app.yaml:1:11  plugins["planner.static"]: found keys for planner.static, which is not active; add planner.static to plugins.active, or remove this (bundle_conflict)',
    ],
  },
  {
    title: 'an unknown group',
    yaml: tools('{name: m, kind: module, module: builtin/maths}'),
    says: [
      'app.yaml:6:37  surfaces.as_consumer.agents.main.tools[0].module: found no group "builtin/maths"; did you mean builtin/math (bundle_unknown_name)',
    ],
  },
  {
    title: 'the group that comes with planning',
    yaml: tools('{name: m, kind: module, module: builtin/plan}'),
    says: [
      'app.yaml:6:37  surfaces.as_consumer.agents.main.tools[0].module: found no group "builtin/plan"; leave it out: it comes by itself where an agent has `planning` (bundle_unknown_name)',
    ],
  },
  {
    title: 'an MCP server that is not declared',
    yaml: tools('{name: kb, kind: mcp, server_id: kb}'),
    says: [
      'app.yaml:6:35  surfaces.as_consumer.agents.main.tools[0].server_id: found no MCP server "kb" in surfaces.as_consumer.mcp.services; add it there, with its transport (bundle_unknown_name)',
    ],
  },
  {
    title: 'an unknown kind',
    yaml: tools('{name: kb, kind: modul, module: x}'),
    says: [
      'app.yaml:6:30  surfaces.as_consumer.agents.main.tools[0].kind: found string "modul", wanted one of "module", "python", "mcp", "named_service" (bundle_invalid)',
    ],
  },
  {
    title: 'a Python module of their own',
    yaml: tools('{name: x, kind: python, module: my.app.mail_tools}'),
    says: [
      `app.yaml:6:37  surfaces.as_consumer.agents.main.tools[0].module: found the Python module "my.app.mail_tools", wanted a name that ends in a built-in group: ${groups.join(', ')}; write the tools in TypeScript and grant them with kind: module (bundle_not_supported)`,
    ],
  },
  {
    title: 'an unknown tool in allowed',
    yaml: tools('{name: m, kind: module, module: builtin/math, allowed: [calculat]}'),
    says: [
      'app.yaml:6:69  surfaces.as_consumer.agents.main.tools[0].allowed[0]: found no tool "calculat" in "m"; did you mean calculate (bundle_unknown_name)',
    ],
  },
  {
    title: 'an unknown tool in traits',
    yaml: tools('{name: m, kind: module, module: builtin/math, tool_traits: {add: {effect: read}}}'),
    says: [
      'app.yaml:6:73  surfaces.as_consumer.agents.main.tools[0].tool_traits.add: found no tool "add" in "m", wanted one of calculate (bundle_unknown_name)',
    ],
  },
  {
    title: 'the same alias twice',
    yaml: tools(
      '{name: m, kind: module, module: builtin/math}',
      `          - {name: t, alias: m, kind: module, module: builtin/time}
`,
    ),
    says: [
      'app.yaml:7:23  surfaces.as_consumer.agents.main.tools[1].alias: found "m" again, first at app.yaml:6:13  surfaces.as_consumer.agents.main.tools[0], wanted another alias for each group (bundle_conflict)',
    ],
  },
  {
    title: 'a module that is not there',
    yaml: tools('{name: n, kind: module, module: ./n.js}'),
    says: [
      'app.yaml:6:37  surfaces.as_consumer.agents.main.tools[0].module: found no such file as "./n.js", wanted a file that can be read (bundle_unreadable)',
    ],
  },
  {
    title: 'a package that is not installed',
    yaml: tools('{name: n, kind: module, module: no-such-tools}'),
    says: [
      'app.yaml:6:37  surfaces.as_consumer.agents.main.tools[0].module: found "no-such-tools", which is not installed, wanted builtin/ and a group, a file such as ./tools/notes.ts, or an installed package; write ./ before the name of a file, or install the package (tool_module)',
    ],
  },
  {
    title: 'an agent in one root and not in the other',
    yaml:
      `config: {react: {mian: {}}}
` + tools('{name: m, kind: module, module: builtin/math}'),
    says: [
      'app.yaml:1:18  config.react.mian: found no agent "mian" in surfaces.as_consumer.agents; did you mean main (bundle_unknown_name)',
    ],
  },
  {
    title: 'an unknown default agent',
    yaml: `surfaces: {as_consumer: {default_agent: mian, agents: {main: {}}}}
`,
    says: [
      'app.yaml:1:26  surfaces.as_consumer.default_agent: found no agent "mian"; did you mean main (bundle_unknown_name)',
    ],
  },
  {
    title: 'surfaces in both places',
    yaml: `surfaces: {}
config: {surfaces: {}}
`,
    says: [
      'app.yaml:1:1  surfaces: found surfaces a second time, first at app.yaml:2:10  config.surfaces, wanted one of the two (bundle_conflict)',
    ],
  },
  {
    title: 'one key in both manners',
    yaml: `nexus.agent.react: {max_faults: 1}
config: {react: {default_agent: {max_faults: 2}}}
`,
    says: [
      'app.yaml:1:21  ["nexus.agent.react"].max_faults: found max_faults a second time, first at app.yaml:2:34  config.react.default_agent.max_faults, wanted one of the two (bundle_conflict)',
    ],
  },
];

for (const { title, yaml, says } of mistakes) {
  test(`a bundle is refused for ${title}`, async () => {
    assert.equal(await problemsOf(yaml, {}, { environment }), says.join('\n'));
  });
}

test('all that is wrong is told at once, in the order of the file', async () => {
  const said = await problemsOf('modls: {}\nconfig: {react: {main: {max_actions: 0, on_limit: stop}}}\nid: 1\n');
  assert.deepEqual(
    said.split('\n').map((line) => line.slice(0, line.indexOf(': found'))),
    [
      'app.yaml:1:1  modls',
      'app.yaml:2:38  config.react.main.max_actions',
      'app.yaml:2:51  config.react.main.on_limit',
      'app.yaml:3:5  id',
    ],
  );
});

test('a mistake on a level that agents share is told once', async () => {
  const said = await problemsOf(
    'config: {react: {default_agent: {model_role: fast}, a: {}, b: {}}}\nmodels: {quick: {provider: openai, model: m}}\n',
  );
  assert.equal(said.split('\n').length, 1);
});

test('twenty problems are told, and how many there are besides', async () => {
  const keys = Array.from({ length: 33 }, (_, index) => `k${index}: 1`).join('\n');
  const lines = (await problemsOf(keys)).split('\n');
  assert.deepEqual([lines.length, lines.at(-1)], [21, 'and 13 more']);
});

test('brackets without end are an error like others', async () => {
  assert.match(await problemsOf(`a: ${'['.repeat(20_000)}`), /values nested too deep.*\(bundle_yaml\)/);
});

test('aliases that multiply are stopped', async () => {
  const bomb = ['a0: &a0 [x]'];
  for (let level = 1; level < 12; level++) {
    bomb.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(', ')}]`);
  }
  const said = await problemsOf(bomb.join('\n'));
  assert.match(said, /found too many values, wanted at most 50000 \(bundle_yaml\)$/);
  assert.equal(said.split('\n').length, 1);
});

test('no secret is quoted, wherever the variable stands', async () => {
  const places = [
    'id: "${SECRET} !"',
    agent('system_prompt_file: "${SECRET}"'),
    agent('tool_choice: {mode: tool, name: "${SECRET}"}'),
    'plugins: {active: ["${SECRET}"]}',
    'plugins: {gate.endless_loop: {max_iterations: "${SECRET}"}}',
    'models: {balanced: "${SECRET}"}',
    'models: {balanced: {provider: openai, model: m, base_url: "${SECRET}"}}',
    tools('{name: "${SECRET} a", kind: module, module: builtin/math}'),
    tools('{name: m, kind: module, module: "${SECRET}"}'),
    tools('{name: m, kind: module, module: "./${SECRET}.ts"}'),
    tools('{name: m, kind: python, module: "${SECRET}"}'),
    tools('{name: m, kind: module, module: builtin/math, allowed: ["${SECRET}"]}'),
    'surfaces: {as_consumer: {default_agent: "${SECRET}", agents: {main: {}}}}',
  ];
  for (const yaml of places) {
    const said = await problemsOf(yaml, {}, { environment });
    assert.match(said, /\$\{SECRET\}/, yaml);
    assert.doesNotMatch(said, /hunter2/, yaml);
  }
});

test('a price is a decimal amount under the name of a provider and a model', async () => {
  assert.match(await problemsOf('prices: {acme: {input: 1, output: 1}}'), /app\.yaml:1:\d+ {2}prices\.acme: found/);
  assert.match(
    await problemsOf('prices: {acme/m: {input: -1, output: 1}}'),
    /prices\["acme\/m"\]\.input: found number -1/,
  );
  assert.match(await problemsOf('prices: {acme/m: {input: 1e, output: 1}}'), /prices\["acme\/m"\]\.input: found/);
  assert.match(await problemsOf('prices: {acme/m: {input: 1}}'), /prices\["acme\/m"\]/);
});

test('what does not fit is left out, and the rest is checked, at the places of the file', async () => {
  const said = await problemsOf(`accounts: {a: 1}
mcp: {}
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - {name: s, kind: named_service}
          - {name: m, kind: module, module: builtin/maths}
          - {name: r, kind: module, module: ./r.ts}
          - {name: c, kind: module, module: builtin/math, allowed: [calculat]}
plugins: {active: [planner.statc]}
`);
  assert.deepEqual(
    said.split('\n').map((line) => line.slice(0, line.indexOf(': found'))),
    [
      'app.yaml:1:15  accounts.a',
      'app.yaml:2:1  mcp',
      'app.yaml:8:13  surfaces.as_consumer.agents.main.tools[0].namespaces',
      'app.yaml:9:37  surfaces.as_consumer.agents.main.tools[1].module',
      'app.yaml:10:37  surfaces.as_consumer.agents.main.tools[2].module',
      'app.yaml:11:69  surfaces.as_consumer.agents.main.tools[3].allowed[0]',
      'app.yaml:12:20  plugins.active[0]',
    ],
  );
});
