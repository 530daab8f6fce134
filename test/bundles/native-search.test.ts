import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effective, load, noticesOf, problemsOf } from '../support/bundles.ts';

const bundle = (models: string, more = '', entry = '') => `
surfaces:
  as_consumer:
    agents:
      main:
        tools: [{ name: web, kind: module, module: builtin/web, config: { search: { provider: native } }${entry} }]
models: { balanced: ${models} }
${more}`;
const claude = '{ provider: anthropic, model: claude-sonnet-4-6 }';

test('a check says which models have no search of their own', async () => {
  const loaded = await load(
    bundle(`[${claude}, { provider: google, model: gemini-2.5-pro }, { provider: ollama, model: qwen3 }]`),
  );
  const said = noticesOf(loaded).filter((one) => one.includes('web_search'));
  assert.deepEqual(said, [
    'app.yaml: main has no web_search with google/gemini-2.5-pro, which has no search of its own',
    'app.yaml: main has no web_search with ollama/qwen3, which has no search of its own',
  ]);
});

test('a check says which gates have a rule about a search that they are never asked about', async () => {
  const rules = (id: string, config: string) => `plugins: { active: [${id}], ${id}: ${config} }`;
  const policy = rules('gate.approval_policy', '{ rules: [{ tool: web_search, then: ask }] }');
  const said = noticesOf(await load(bundle(claude, policy))).filter((one) => one.includes('not asked'));
  assert.match(said.join(), /web_search is done by the model's provider, so gate.approval_policy is not asked/);
  const filter = rules('gate.tool_filter', '{ deny: [web_search] }');
  assert.doesNotMatch(noticesOf(await load(bundle(claude, filter))).join(), /web_search/);
});

test('approval of a search that nobody here carries out is refused when the bundle is loaded', async () => {
  const problems = await problemsOf(bundle(claude, '', ', tool_traits: { web_search: { approval: ask } }'));
  assert.match(problems, /approval of web_search, which the provider of the model does by itself/);
});

test('an agent that decides in JSON has no such search, and is told so', async () => {
  const loaded = await load(bundle(claude, 'config: { react: { main: { decision: json } } }'));
  const { tools, inactive } = await effective(loaded);
  assert.deepEqual(
    [tools.map(({ name }) => name), inactive],
    [['web_fetch'], [{ name: 'web_search', why: 'needs decision: native' }]],
  );
});
