import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withChosenModel } from '../../src/platform/models/auto-model.ts';
import { isPromise } from '../../src/base/promise.ts';
import { emptySelection } from '../../src/domain/selection.ts';
import { mergeSelection } from '../../src/domain/selection-patch.ts';
import { toJson } from '../../src/base/json.ts';
import { aMeta, aTalk, load } from '../support/bundles.ts';

const yaml = `
id: app
config:
  react:
    main: { system_prompt: Hi. }
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - { name: time, kind: module, module: builtin/time }
          - { name: math, kind: module, module: builtin/math }
`;
const noMath = mergeSelection(emptySelection, { disabled: { tools: { math: true } } });
const store = {
  readSelection: () => ({ value: toJson(noMath), revision: 1 }),
  writeSelection: () => true,
};

async function agentWith(ref: { readonly provider: string; readonly model: string }) {
  const bundle = withChosenModel(await load(yaml), { ref, why: 'key' });
  const made = bundle.agentSource(store).assemble(aMeta('main'), aTalk());
  return (isPromise(made) ? await made : made).agent;
}

test('what a user switched off is masked where the model that auto stands for can be told so', async () => {
  const { models, tools, listed } = await agentWith({ provider: 'openai', model: 'gpt-5.2' });
  assert.deepEqual(
    [models[0]?.provider, tools.some(({ group }) => group === 'math'), listed?.some(({ group }) => group === 'math')],
    ['openai', false, true],
  );
});

test('and leaves the prompt where it cannot', async () => {
  const { models, listed } = await agentWith({ provider: 'anthropic', model: 'claude-sonnet-4-5' });
  assert.deepEqual([models[0]?.provider, listed], ['anthropic', undefined]);
});
