import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { joinPatches, mergeSelection, type SelectionPatch } from '../../src/domain/selection-patch.ts';
import { emptySelection, type Selection } from '../../src/domain/selection.ts';
import { anyPatch, anySelection } from '../assembly/grants.ts';

const withWeb = (web: true | string[]): Selection => ({
  ...emptySelection,
  disabled: { ...emptySelection.disabled, tools: { web, mail: true } },
});

const table: readonly (readonly [
  about: string,
  said: true | false | null | string[],
  left: true | string[] | undefined,
])[] = [
  ['true switches the whole group off', true, true],
  ['a list replaces the list before it', ['search'], ['search']],
  ['false switches it on again', false, undefined],
  ['null switches it on again', null, undefined],
  ['an empty list switches it on again', [], undefined],
];
for (const [about, said, left] of table) {
  test(`${about}, and what is not named stays`, () => {
    const { tools } = mergeSelection(withWeb(['fetch']), { disabled: { tools: { web: said } } }).disabled;
    assert.deepEqual(tools, left === undefined ? { mail: true } : { mail: true, web: left });
  });
}

test('skills are switched one by one by a mapping and replaced by a list', () => {
  const before = { ...emptySelection, disabled: { ...emptySelection.disabled, skills: ['a', 'b'] } };
  const skills = (said: string[] | Record<string, boolean>) =>
    mergeSelection(before, { disabled: { skills: said } }).disabled.skills;
  assert.deepEqual(skills({ a: false, c: true }), ['b', 'c']);
  assert.deepEqual(skills(['c']), ['c']);
});

test('a pick is set, taken back by null, and kept where it is not named', () => {
  const model = { provider: 'anthropic', model: 'haiku' };
  const picked = mergeSelection(emptySelection, { model });
  assert.deepEqual(picked.model, model);
  assert.equal(mergeSelection(picked, { model: null }).model, undefined);
  assert.deepEqual(mergeSelection(picked, { disabled: { tools: { web: true } } }).model, model);
});

test('law 3: two changes one after the other are their joined change', () => {
  fc.assert(
    fc.property(anySelection, anyPatch, anyPatch, (selection, first, second) => {
      assert.deepEqual(
        mergeSelection(selection, joinPatches(first, second)),
        mergeSelection(mergeSelection(selection, first), second),
      );
    }),
  );
});

test('law 3: a change made twice is made once', () => {
  fc.assert(
    fc.property(anySelection, anyPatch, (selection, patch) => {
      const once = mergeSelection(selection, patch);
      assert.deepEqual(mergeSelection(once, patch), once);
    }),
  );
});

test('law 3: unnamed keys are untouched', () => {
  fc.assert(
    fc.property(anySelection, anyPatch, (selection, patch) => {
      const merged = mergeSelection(selection, patch);
      for (const kind of ['tools', 'mcp', 'named_services'] as const) {
        const named = new Set(Object.keys(patch.disabled?.[kind] ?? {}));
        const rest = (of: Selection) =>
          Object.entries(of.disabled[kind])
            .filter(([name]) => !named.has(name))
            .sort();
        assert.deepEqual(rest(merged), rest(selection));
      }
    }),
  );
});

test('the order in which keys are written changes no record', () => {
  const one: SelectionPatch = { disabled: { tools: { a: true, b: true } } };
  const other: SelectionPatch = { disabled: { tools: { b: true, a: true } } };
  assert.equal(
    JSON.stringify(mergeSelection(emptySelection, one)),
    JSON.stringify(mergeSelection(emptySelection, other)),
  );
});
