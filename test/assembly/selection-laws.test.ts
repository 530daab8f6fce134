// The laws of selections as properties, each with a broken rule that it has to catch: a property that nothing can break
// proves nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { applyClaims } from '../../src/assembly/claims.ts';
import { effectiveAgentOf } from '../../src/assembly/effective.ts';
import { shownTools } from '../../src/assembly/render.ts';
import { clampPatch, menuOf } from '../../src/assembly/menu.ts';
import { narrow } from '../../src/assembly/narrow.ts';
import type { Grant } from '../../src/domain/grant.ts';
import { mergeSelection } from '../../src/domain/selection-patch.ts';
import { emptySelection, readSelection } from '../../src/domain/selection.ts';
import { aGrant, aTool, anyClaims, anyGrant, anyPatch, anyRecord, anySelection, declaredAgent } from './grants.ts';

/** The rules under test. A mutant is all of them with one broken. */
const rules = { narrow, applyClaims, mergeSelection, clampPatch, readSelection, effectiveAgentOf };
type Rules = typeof rules;
type Broken = Partial<Rules>;

const named = (grant: Pick<Grant, 'tools'>) => grant.tools.map(({ definition }) => definition.name);
const withSkill = (grant: Grant): Grant => ({
  ...grant,
  skills: [{ id: 'a', name: 'a', description: '', digest: '', requires: named(grant).slice(0, 1) }],
});
/** Several groups of two tools, so that most records hit something. */
const full = aGrant([
  aTool('io_read', { group: 'io', own: 'read', locked: true }),
  aTool('web_read', { group: 'web', own: 'read' }),
  aTool('web_write', { group: 'web', own: 'write', needs: { provider: 'slack', claims: ['write'] } }),
  aTool('kb_read', { group: 'kb', own: 'read', kind: 'mcp' }),
]);

interface Law {
  readonly about: string;
  readonly holds: (rules: Rules) => void;
  readonly broken: Broken;
}

const laws: readonly Law[] = [
  {
    about: 'law 1: effective is within the grant',
    holds: (r) =>
      fc.assert(
        fc.property(anyGrant, anyRecord, anyClaims, (grant, record, held) => {
          const { tools } = r.applyClaims(r.narrow(grant, r.readSelection(record).selection).tools, held);
          assert.ok(tools.every((tool) => grant.tools.includes(tool)));
        }),
      ),
    broken: {
      narrow: (grant, selection) => ({
        ...narrow(grant, selection),
        tools: [...narrow(grant, selection).tools, aTool('extra')],
      }),
    },
  },
  {
    about: 'law 2: what an update stores is within the menu',
    holds: (r) =>
      fc.assert(
        fc.property(anyPatch, (patch) => {
          const menu = menuOf(full);
          const { tools } = r.mergeSelection(emptySelection, r.clampPatch(patch, menu).patch).disabled;
          assert.ok(
            Object.keys(tools).every((name) => menu.groups.some(({ group, locked }) => group === name && !locked)),
          );
        }),
      ),
    broken: { clampPatch: (patch) => ({ patch, dropped: [] }) },
  },
  {
    about: 'law 3: unnamed keys are untouched',
    holds: (r) =>
      fc.assert(
        fc.property(anySelection, anyPatch, (selection, patch) => {
          const { skills } = r.mergeSelection(selection, {
            ...patch,
            disabled: { ...patch.disabled, skills: {} },
          }).disabled;
          assert.deepEqual([...skills].sort(), [...selection.disabled.skills].sort());
        }),
      ),
    broken: { mergeSelection: (_selection, patch) => mergeSelection(emptySelection, patch) },
  },
  {
    about: 'law 4: what the operator adds later is on',
    holds: (r) =>
      fc.assert(
        fc.property(anyGrant, anySelection, (grant, selection) => {
          const added = aTool('fresh', { group: 'fresh' });
          assert.ok(r.narrow({ ...grant, tools: [...grant.tools, added] }, selection).tools.includes(added));
        }),
      ),
    broken: {
      narrow: (grant, selection) => ({
        ...narrow(grant, selection),
        tools: narrow(grant, selection).tools.slice(0, -1),
      }),
    },
  },
  {
    about: 'law 5: system groups stay',
    holds: (r) =>
      fc.assert(
        fc.property(anyGrant, anyRecord, (grant, record) => {
          const { tools } = r.narrow(grant, r.readSelection(record).selection);
          assert.ok(grant.tools.filter(({ locked }) => locked).every((tool) => tools.includes(tool)));
        }),
      ),
    broken: {
      narrow: (grant, selection) =>
        narrow(
          {
            ...grant,
            tools: grant.tools.map((tool) =>
              selection.disabled.tools['io'] === undefined ? tool : { ...tool, locked: false },
            ),
          },
          selection,
        ),
    },
  },
  {
    about: 'law 6: groups and servers go whole or entry by entry, each by the list of its own kind',
    holds: (r) => {
      const left = (disabled: object) => named(r.narrow(full, r.readSelection({ disabled }).selection));
      assert.deepEqual(left({ tools: { web: true } }), ['io_read', 'kb_read']);
      assert.deepEqual(left({ tools: { web: ['read'] } }), ['io_read', 'web_write', 'kb_read']);
      assert.deepEqual(left({ mcp: { kb: ['read'] } }), ['io_read', 'web_read', 'web_write']);
      assert.deepEqual(left({ tools: { kb: true } }), named(full));
    },
    broken: {
      narrow: (grant, selection) =>
        narrow({ ...grant, tools: grant.tools.map((tool) => ({ ...tool, kind: 'tools' as const })) }, selection),
    },
  },
  {
    about: 'law 7: a skill whose tool is switched off is hidden, and says why',
    holds: (r) =>
      fc.assert(
        fc.property(anyGrant, anySelection, (grant, selection) => {
          const { tools, skills, hidden } = r.narrow(withSkill(grant), selection);
          const isWhole = named(grant)
            .slice(0, 1)
            .every((name) => tools.some(({ definition }) => definition.name === name));
          if (!isWhole) assert.deepEqual([skills, hidden.map(({ name }) => name)], [[], ['a']]);
        }),
      ),
    broken: { narrow: (grant, selection) => ({ ...narrow(grant, selection), skills: grant.skills ?? [], hidden: [] }) },
  },
  {
    about: 'law 8: the pick is one of the offered models, else the configured ones count',
    holds: (r) =>
      fc.assert(
        fc.property(anyGrant, anyRecord, (grant, record) => {
          const { models } = r.narrow(grant, r.readSelection(record).selection);
          assert.ok(models === grant.models || grant.supportedModels.some(({ ref }) => ref === models[0]));
        }),
      ),
    broken: {
      narrow: (grant, selection) => ({
        ...narrow(grant, selection),
        models: selection.model === undefined ? grant.models : [selection.model],
      }),
    },
  },
  {
    about: 'law 9: a record of anything leaves a whole agent, and rights that are not there open nothing',
    holds: (r) => {
      fc.assert(fc.property(fc.anything(), (record) => void r.narrow(full, r.readSelection(record).selection)));
      fc.assert(
        fc.property(anyGrant, (grant) => {
          assert.ok(r.applyClaims(grant.tools, {}).tools.every(({ needs }) => needs === undefined));
        }),
      );
    },
    broken: { applyClaims: (tools) => ({ tools, unmet: [] }) },
  },
  {
    about: "law 10: a child is within its parent's set",
    holds: (r) =>
      fc.assert(
        fc.property(anyGrant, anySelection, anySelection, (grant, first, second) => {
          const parent = r.narrow(grant, first).tools;
          assert.ok(r.narrow({ ...grant, tools: parent }, second).tools.every((tool) => parent.includes(tool)));
        }),
      ),
    broken: {
      narrow: (grant, selection) => ({
        ...narrow(grant, selection),
        tools: [...narrow(grant, selection).tools, aTool('a_grant_of_its_own')],
      }),
    },
  },
  {
    about: 'law 12: an account changes nothing that is cached: not the text, not what is listed',
    holds: (r) =>
      fc.assert(
        fc.property(
          anyGrant,
          anySelection,
          anyClaims,
          fc.constantFrom('native' as const, 'json' as const),
          (grant, selection, held, grammar) => {
            const made = (claims: typeof held) =>
              r.effectiveAgentOf(declaredAgent(grant, { grammar }), selection, claims).agent;
            const [one, other] = [made(held), made({})];
            assert.deepEqual([one.instructions, one.gallery], [other.instructions, other.gallery]);
            assert.deepEqual(shownTools({ ...one, deferral: 'own' }), shownTools({ ...other, deferral: 'own' }));
          },
        ),
      ),
    broken: {
      effectiveAgentOf(declared, selection, held) {
        const { listed: _, ...agent } = effectiveAgentOf(declared, selection, held).agent;
        return { agent, unmet: [] };
      },
    },
  },
];

for (const { about, holds, broken } of laws) {
  test(about, () => holds(rules));
  test(`${about}: and is seen to be broken when it is`, () => {
    assert.throws(() => holds({ ...rules, ...broken }));
  });
}
