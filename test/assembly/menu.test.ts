import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { clampPatch, menuOf } from '../../src/assembly/menu.ts';
import { narrow } from '../../src/assembly/narrow.ts';
import { mergeSelection } from '../../src/domain/selection-patch.ts';
import { aGrant, aTool, anyGrant, anyPatch, anySelection } from './grants.ts';

const grant = aGrant(
  [
    aTool('web_fetch', { own: 'fetch' }),
    aTool('web_search', { own: 'search' }),
    aTool('tool_call', { group: 'io', locked: true }),
  ],
  {
    supportedModels: [{ ref: { provider: 'anthropic', model: 'haiku' }, label: 'Haiku' }],
    skills: [{ id: 'public.look', name: 'look', description: 'Looks.', digest: 'd1', requires: ['web_search'] }],
    unavailable: [{ name: 'mail_send', group: 'mail', own: 'send', why: 'this version does not bring it' }],
    open: [{ kind: 'mcp', group: 'knowledge' }],
  },
);
const menu = menuOf(grant);

test('the menu is the grant by group, with what is locked, missing or open', () => {
  assert.deepEqual(
    menu.groups.map(({ kind, group, locked, open, entries }) => [
      kind,
      group,
      locked,
      open,
      entries.map(({ own }) => own),
    ]),
    [
      ['tools', 'io', true, false, ['tool_call']],
      ['tools', 'mail', false, false, ['send']],
      ['tools', 'web', false, false, ['fetch', 'search']],
      ['mcp', 'knowledge', false, true, []],
    ],
  );
});

const dropped: readonly (readonly [patch: Parameters<typeof clampPatch>[0], paths: readonly string[]])[] = [
  [{ disabled: { tools: { gmail: true } } }, ['disabled.tools.gmail']],
  [{ disabled: { tools: { io: true } } }, ['disabled.tools.io']],
  [{ disabled: { tools: { web: ['fetch', 'gone'] } } }, ['disabled.tools.web.gone']],
  [{ disabled: { mcp: { other: true } } }, ['disabled.mcp.other']],
  [{ disabled: { skills: { 'public.gone': true } } }, ['disabled.skills.public.gone']],
  [{ model: { provider: 'anthropic', model: 'opus' } }, ['model']],
  [{ disabled: { tools: { gmail: false } }, model: null }, []],
  [{ disabled: { mcp: { knowledge: ['whatever'] } } }, []],
];
for (const [patch, paths] of dropped) {
  test(`law 2: clamping ${JSON.stringify(patch)} drops ${paths.join() || 'nothing'}`, () => {
    assert.deepEqual(
      clampPatch(patch, menu).dropped.map(({ path }) => path),
      paths,
    );
  });
}

test('law 2: a list of which nothing is known switches nothing on', () => {
  const { patch } = clampPatch({ disabled: { tools: { web: ['gone'] } } }, menu);
  assert.deepEqual(patch, {});
});

test('law 2: clamping twice is clamping once', () => {
  fc.assert(
    fc.property(anyGrant, anyPatch, (any, patch) => {
      const once = clampPatch(patch, menuOf(any)).patch;
      assert.deepEqual(clampPatch(once, menuOf(any)), { patch: once, dropped: [] });
    }),
  );
});

test('law 2: what clamping drops would have done nothing', () => {
  fc.assert(
    fc.property(anyGrant, anySelection, anyPatch, (any, selection, patch) => {
      const tools = (of: typeof patch) => narrow(any, mergeSelection(selection, of)).tools;
      // A denial of nothing but unknown names would take the known ones of before back.
      const isReplacing = Object.values(patch.disabled ?? {}).some((part) =>
        Object.values(part ?? {}).some((said) => Array.isArray(said)),
      );
      if (!isReplacing) assert.deepEqual(tools(clampPatch(patch, menuOf(any)).patch), tools(patch));
    }),
  );
});

test('law 7: a skill whose required tool is switched off hides itself and says why', () => {
  const off = mergeSelection(
    { schema_version: 1, disabled: { tools: {}, mcp: {}, named_services: {}, skills: [] } },
    {
      disabled: { tools: { web: ['search'] } },
    },
  );
  assert.deepEqual(narrow(grant, off).hidden, [
    { name: 'public.look', why: 'needs web_search, switched off by the user' },
  ]);
  assert.deepEqual(narrow(grant, off).skills, []);
});
