import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptySelection, readSelection, type Selection } from '../../src/domain/selection.ts';

test('the record of the requirement page is read as printed', () => {
  const record = {
    schema_version: 1,
    disabled: {
      tools: { gmail: true, web_tools: ['web_fetch'] },
      mcp: { knowledge: ['kb_fetch'] },
      named_services: { task: true },
      skills: ['public.docx-press'],
    },
    model: { provider: 'anthropic', model: 'claude-haiku-4-5-20251001' },
  };
  assert.deepEqual(readSelection(record), { selection: record, ignored: [] });
});

test('no record is no selection, and nothing is said about it', () => {
  for (const stored of [undefined, null, {}]) {
    assert.deepEqual(readSelection(stored), { selection: emptySelection, ignored: [] });
  }
});

test('the cache policy is kept', () => {
  const cache_policy = { model_switch: 'accept', capability_toggle: 'defer_cold' };
  assert.deepEqual(readSelection({ cache_policy }).selection.cache_policy, cache_policy);
});

const junk: readonly (readonly [stored: unknown, ignored: string])[] = [
  ['off', 'The record is not an object but string.'],
  [[], 'The record is not an object but a list.'],
  [{ schema_version: 2 }, 'The record has schema_version 2; this version reads 1.'],
  [{ disabled: 7 }, 'disabled is 7, not an object.'],
  [{ disabled: { tools: ['web'] } }, 'disabled.tools is a list, not an object.'],
  [{ disabled: { tools: { web: 'all' } } }, 'disabled.tools.web is string, not a list of names.'],
  [{ disabled: { tools: { web: ['a', 1] } } }, 'disabled.tools.web holds entries that are not names.'],
  [{ disabled: { skills: 'x' } }, 'disabled.skills is string, not a list of names.'],
  [{ model: 'haiku' }, 'model is not of the known shape.'],
  [{ cache_policy: { model_switch: 'ask' } }, 'cache_policy is not of the known shape.'],
];

for (const [stored, ignored] of junk) {
  test(`a record is read past ${JSON.stringify(stored)}`, () => {
    assert.deepEqual(readSelection(stored).ignored, [ignored]);
  });
}

const off: Selection = {
  schema_version: 1,
  disabled: {
    tools: { web: ['web_fetch'], mail: true },
    mcp: { kb: true },
    named_services: {},
    skills: ['public.tea'],
  },
  model: { provider: 'anthropic', model: 'haiku' },
};
const { disabled } = off;
const doubtful: readonly (readonly [stored: unknown, counts: Selection])[] = [
  ['off', off],
  [{ schema_version: 2 }, off],
  [{ ...off, disabled: 7 }, off],
  [{ ...off, disabled: { ...disabled, mcp: [] } }, off],
  [
    { ...off, disabled: { ...disabled, tools: { web: 'all' } } },
    { ...off, disabled: { ...disabled, tools: { web: ['web_fetch'] } } },
  ],
  [
    { ...off, disabled: { ...disabled, tools: { web: ['web_search', 1], mail: [2] } } },
    { ...off, disabled: { ...disabled, tools: { web: ['web_search', 'web_fetch'], mail: true } } },
  ],
  [{ ...off, disabled: { ...disabled, skills: 'x' } }, off],
  [{ ...off, model: 'haiku' }, off],
  [{}, emptySelection],
  [
    { disabled: { tools: { web: 'all' } } },
    { ...emptySelection, disabled: { ...emptySelection.disabled, tools: { web: ['web_fetch'] } } },
  ],
];

for (const [stored, counts] of doubtful) {
  test(`what is junk counts as it is known from before, entry by entry: ${JSON.stringify(stored)}`, () => {
    assert.deepEqual(readSelection(stored, off).selection, counts);
  });
}

test('what is well-formed counts beside what is not', () => {
  const { selection } = readSelection({ disabled: { tools: { web: 'all', gmail: true, mail: false } }, model: 3 });
  assert.deepEqual(selection, {
    ...emptySelection,
    disabled: { ...emptySelection.disabled, tools: { gmail: true } },
  });
});

test('a record that throws when it is looked at is no selection', () => {
  const trap = new Proxy({}, { get: () => assert.fail('looked') });
  assert.deepEqual(readSelection(trap), { selection: emptySelection, ignored: ['The record cannot be read.'] });
});
