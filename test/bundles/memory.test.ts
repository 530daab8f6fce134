import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, noticesOf, problemsOf } from '../support/bundles.ts';

const yaml = (plugins: string, key = '') => `
config: { react: { main: { system_prompt: Hi.${key} } } }
models: { balanced: { provider: scripted, script: s.json } }
plugins: ${plugins}
`;
const files = { 's.json': '[{"text":"Hi."}]' };
const limitsOf = async (plugins: string, key = '') => {
  const { contextMaxTokens, contextMaxTurns, contextEnds, resultsMaxTokens, resultsKept } = (
    await load(yaml(plugins, key), files)
  ).agent('main').frame.limits;
  return [contextMaxTokens, contextMaxTurns, contextEnds, resultsMaxTokens, resultsKept];
};

test('a limit that nobody could act upon is told, and ends a turn', async () => {
  const key = ', context_max_tokens: 5000';
  const [told = ''] = noticesOf(await load(yaml('{}', key), files));
  assert.match(told, /^app\.yaml:2:\d+ .*context_max_tokens: no memory plugin is active: .*context_full/);
  assert.deepEqual((await limitsOf('{}', key)).slice(0, 3), [5_000, undefined, true]);
  assert.deepEqual((await limitsOf('{ active: [memory.tool_results] }', key)).slice(0, 3), [5_000, undefined, true]);
  assert.deepEqual(noticesOf(await load(yaml('{ active: [memory.capped] }', key), files)), []);
});

test('what a memory plugin is given becomes limits of the agents, and a key of an agent stands over it', async () => {
  assert.deepEqual(await limitsOf('{ active: [memory.capped] }'), [undefined, 40, undefined, undefined, undefined]);
  const buffer = '{ active: [memory.summary_buffer], memory.summary_buffer: { max_turns: 9, max_tokens: 7000 } }';
  assert.deepEqual((await limitsOf(buffer)).slice(0, 2), [7_000, 9]);
  assert.deepEqual((await limitsOf(buffer, ', context_max_tokens: 5000')).slice(0, 2), [5_000, 9]);
  assert.deepEqual((await limitsOf('{ active: [memory.tool_results] }')).slice(3), [20_000, 6]);
});

test('a window that keeps all of itself is refused', async () => {
  const says = await problemsOf(
    yaml('{ active: [memory.capped], memory.capped: { max_turns: 2, keep_turns: 2 } }'),
    files,
  );
  assert.match(says, /keep_turns: .*wanted keep_turns below max_turns/);
});
