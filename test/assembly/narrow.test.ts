import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { applyClaims } from '../../src/assembly/claims.ts';
import { effectiveAgentOf, type DeclaredAgent } from '../../src/assembly/effective.ts';
import { narrow } from '../../src/assembly/narrow.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import type { Grant } from '../../src/domain/grant.ts';
import { emptySelection, readSelection, type Selection } from '../../src/domain/selection.ts';
import { aGrant, aTool, anyClaims, anyGrant, anyRecord } from './grants.ts';

const off = (tools: Selection['disabled']['tools']): Selection => ({
  ...emptySelection,
  disabled: { ...emptySelection.disabled, tools },
});

function declared(grant: Grant, grammar: 'native' | 'json' = 'native'): DeclaredAgent {
  const frame = {
    id: 'main',
    grammar,
    limits: defaultLimits,
    onLimit: 'end' as const,
    renderThinking: true,
    systemPrompt: 'You help.',
    additional: 'Cite sources.',
  };
  return { bundle: 'app', revision: 'r1', frame, grant, role: 'balanced' };
}

const namesOf = (tools: readonly { readonly definition: { readonly name: string } }[]) =>
  tools.map(({ definition }) => definition.name);

test('law 1: no record of a user widens what the operator grants', () => {
  fc.assert(
    fc.property(anyGrant, anyRecord, anyClaims, (grant, record, held) => {
      const { agent } = effectiveAgentOf(declared(grant), readSelection(record).selection, held);
      const granted = namesOf(grant.tools);
      assert.ok(agent.tools.every(({ name }) => granted.includes(name)));
      const models = [...grant.models, ...grant.supportedModels.map(({ ref }) => ref)];
      assert.ok(agent.models.every((model) => models.includes(model)));
    }),
  );
});

test('B125 law 2: effective is configured less disabled', () => {
  fc.assert(
    fc.property(anyGrant, anyRecord, (grant, record) => {
      const { selection } = readSelection(record);
      const { tools } = selection.disabled;
      const expected = grant.tools.filter(({ definition, own, locked }) => {
        const entry = Object.hasOwn(tools, definition.group) ? tools[definition.group] : undefined;
        return locked || !(entry === true || entry?.includes(own) === true);
      });
      assert.deepEqual(narrow(grant, selection).tools, expected);
    }),
  );
});

test('law 4: what the operator adds later is on, whatever a record says of other tools', () => {
  fc.assert(
    fc.property(anyGrant, anyRecord, (grant, record) => {
      const added = aTool('fresh_tool', { group: 'fresh', own: 'tool' });
      const { tools } = narrow({ ...grant, tools: [...grant.tools, added] }, readSelection(record).selection);
      assert.ok(tools.includes(added));
    }),
  );
});

test('law 5: system groups stay on, whatever a record says', () => {
  fc.assert(
    fc.property(anyGrant, anyRecord, (grant, record) => {
      const { tools } = narrow(grant, readSelection(record).selection);
      assert.ok(grant.tools.filter(({ locked }) => locked).every((tool) => tools.includes(tool)));
    }),
  );
});

test('law 8: a pick that is not supported any more leaves the configured model', () => {
  const supported = [{ ref: { provider: 'anthropic', model: 'haiku', maxTokens: 900 }, label: 'Haiku' }];
  const grant = aGrant([], { supportedModels: supported });
  const pick = (model: string) => narrow(grant, { ...emptySelection, model: { provider: 'anthropic', model } });
  assert.deepEqual(pick('haiku').models, [{ provider: 'anthropic', model: 'haiku', maxTokens: 900 }]);
  assert.deepEqual(pick('gone').models, grant.models);
  assert.deepEqual([pick('haiku').picked, pick('gone').picked], [true, false]);
});

test('law 9: a record of anything is read, and what was passed over is told', () => {
  fc.assert(
    fc.property(fc.anything(), (record) => {
      const { selection, ignored } = readSelection(record);
      assert.equal(selection.schema_version, 1);
      if (typeof record !== 'object' && record !== undefined) assert.equal(ignored.length, 1);
    }),
  );
});

test('law 9: permission fails closed where a preference fails open', () => {
  const tool = aTool('post', { needs: { provider: 'slack', claims: ['write'] } });
  const { agent } = effectiveAgentOf(declared(aGrant([tool, aTool('look')])), readSelection('junk').selection, {});
  assert.deepEqual(
    agent.tools.map(({ name }) => name),
    ['look'],
  );
});

test("law 10: a child that is narrowed once more is within its parent's set", () => {
  fc.assert(
    fc.property(anyGrant, anyRecord, anyRecord, (grant, first, second) => {
      const parent = narrow(grant, readSelection(first).selection);
      const child = narrow({ ...grant, tools: parent.tools }, readSelection(second).selection);
      assert.ok(child.tools.every((tool) => parent.tools.includes(tool)));
    }),
  );
});

test('law 12: neither a selection nor an account changes the cached text of an agent with native tools', () => {
  fc.assert(
    fc.property(anyGrant, anyRecord, anyClaims, (grant, record, held) => {
      const before = effectiveAgentOf(declared(grant), emptySelection, {}).agent;
      const after = effectiveAgentOf(declared(grant), readSelection(record).selection, held).agent;
      assert.deepEqual([after.instructions, after.gallery], [before.instructions, before.gallery]);
    }),
  );
});

test('law 12: an account changes no cached text, also where the text lists the tools', () => {
  fc.assert(
    fc.property(anyGrant, anyRecord, anyClaims, anyClaims, (grant, record, one, other) => {
      const { selection } = readSelection(record);
      const text = (held: typeof one) => effectiveAgentOf(declared(grant, 'json'), selection, held).agent.instructions;
      assert.equal(text(one), text(other));
    }),
  );
});

test('an empty selection gives the very tools and models of the grant', () => {
  fc.assert(
    fc.property(anyGrant, (grant) => {
      const { tools, models } = narrow(grant, emptySelection);
      assert.ok(tools === grant.tools && models === grant.models);
    }),
  );
});

test('narrowing twice by one record is narrowing once', () => {
  fc.assert(
    fc.property(anyGrant, anyRecord, (grant, record) => {
      const { selection } = readSelection(record);
      const once = narrow(grant, selection);
      assert.deepEqual(narrow({ ...grant, tools: once.tools }, selection).tools, once.tools);
    }),
  );
});

test('whatever is missing is inactive with a reason, and nothing is both', () => {
  fc.assert(
    fc.property(anyGrant, anyRecord, anyClaims, (grant, record, held) => {
      const { agent } = effectiveAgentOf(declared(grant), readSelection(record).selection, held);
      const seen = [...agent.tools.map(({ name }) => name), ...agent.inactive.map(({ name }) => name)];
      assert.deepEqual(seen.sort(), namesOf(grant.tools).sort());
    }),
  );
});

test('a whole group or single tools of it can be switched off', () => {
  const grant = aGrant([aTool('web_fetch'), aTool('web_search'), aTool('tool_call', { group: 'io', locked: true })]);
  assert.deepEqual(namesOf(narrow(grant, off({ web: ['web_fetch'] })).tools), ['web_search', 'tool_call']);
  assert.deepEqual(namesOf(narrow(grant, off({ web: true, io: true })).tools), ['tool_call']);
  assert.deepEqual(narrow(grant, off({ web: ['web_fetch'] })).inactive, [
    { name: 'web_fetch', why: 'switched off by the user' },
  ]);
});

test('a tool without its claims is out for the turn and says which are missing', () => {
  const needs = { provider: 'slack', claims: ['chat:write', 'files:read'] };
  const tools = [aTool('post', { needs }), aTool('look')];
  const why = (held: Readonly<Record<string, readonly string[]>>) =>
    applyClaims(tools, held).unmet.map((one) => one.why);
  assert.deepEqual(why({}), ['needs a connected slack account']);
  assert.deepEqual(why({ slack: ['chat:write'] }), ['needs files:read in the connected slack account']);
  assert.deepEqual(why({ slack: ['files:read', 'chat:write'] }), []);
  assert.equal(applyClaims(tools, { slack: needs.claims }).tools, tools);
});
