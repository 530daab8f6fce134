import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { announce } from '../../src/assembly/announce.ts';
import { consequence, type Pricing } from '../../src/assembly/consequence.ts';
import { effectiveAgentOf } from '../../src/assembly/effective.ts';
import { catalogueText } from '../../src/assembly/message-text.ts';
import { shownTools } from '../../src/assembly/render.ts';
import type { EffectiveAgent, ModelRef } from '../../src/domain/agent.ts';
import type { Conversation } from '../../src/domain/conversation.ts';
import { mergeSelection, type SelectionPatch } from '../../src/domain/selection-patch.ts';
import { emptySelection } from '../../src/domain/selection.ts';
import { toolboxGroup } from '../../src/plugins/tools/toolbox.ts';
import { aTalk, load } from '../support/bundles.ts';
import { runTool } from '../support/tool-context.ts';
import { aGrant, anyClaims, anyGrant, anySelection, aTool, declaredAgent } from './grants.ts';

const mails = ['mail_send', 'mail_list', 'mail_find'].map((own) => aTool(own, { group: 'mail', own, deferred: true }));
const box = ['tool_search', 'tool_use'].map((own) => aTool(own, { group: 'toolbox', own, locked: true }));
const sonnet = { provider: 'anthropic', model: 'claude-sonnet-4-5' };
const scripted = { provider: 'scripted', model: 'authored' };
const granted = (models: readonly ModelRef[]) => aGrant([aTool('fetch'), ...mails, ...box], { models });
const agent = (patch: SelectionPatch = {}, models: readonly ModelRef[] = [scripted], more = {}): EffectiveAgent =>
  effectiveAgentOf(declaredAgent(granted(models), more), mergeSelection(emptySelection, patch), {}).agent;
const noSending = { disabled: { tools: { mail: ['mail_send'] } } };
const noMail = { disabled: { tools: { mail: true } } };
const namesOf = (tools: EffectiveAgent['tools'] | readonly { name: string }[]): string =>
  tools.map(({ name }) => name).join(' ');
const free: Pricing = () => ({ cost: '1', basis: 'list' });

function talkWith(effective: EffectiveAgent): Conversation {
  return aTalk([
    { type: 'io.input', payload: { text: 'hi', mode: 'message' } },
    { type: 'agent.turn.start', payload: { agent: effective, digest: 'd' } },
  ]);
}

async function search(effective: EffectiveAgent, query: string): Promise<readonly string[]> {
  const found = await runTool(toolboxGroup, 'tool_search', { query }, { conversation: talkWith(effective) });
  return (found as { readonly loads: readonly string[] }).loads;
}

test('a provider without a search is told of none of the deferred tools, and of two that find and call them', () => {
  assert.deepEqual([agent().deferral, namesOf(shownTools(agent()))], ['own', 'fetch tool_search tool_use']);
});

test('a provider that searches is told of all of them and of none of ours', () => {
  const shown = shownTools(agent({}, [sonnet]));
  assert.deepEqual(
    [agent({}, [sonnet]).deferral, namesOf(shown), catalogueText(shown).includes('mail')],
    ['provider', 'fetch mail_send mail_list mail_find', false],
  );
});

test('where the next model of the chain does not search, ours are used', () => {
  assert.equal(agent({}, [sonnet, scripted]).deferral, 'own');
});

test('the json grammar calls what it found by its own name', () => {
  const json = agent({}, [scripted], { grammar: 'json' });
  assert.equal(namesOf(json.tools), 'fetch mail_send mail_list mail_find tool_search');
  assert.doesNotMatch(json.instructions, /mail/);
});

for (const [who, models] of [
  ['our search', [scripted]],
  ['a provider', [sonnet]],
] as const) {
  test(`to switch off what ${who} finds is free, and the consequence says how it reaches the model`, () => {
    const [first] = models;
    const cached = [
      {
        ...first,
        at: 0,
        livesMs: 1_000,
        tokens: 9_000,
        sections: {},
        turn: 1,
        revision: 'r1',
        selection: undefined,
        cleared: 0,
      },
    ];
    const { kind, realisation } = consequence(
      agent({}, models),
      agent(noSending, models),
      { conversation: { ...aTalk(), cached }, now: 1 },
      free,
    );
    assert.deepEqual([kind, realisation], ['free', 'defer']);
  });
}

test('B124 what a user switched off is not found, whatever the query', async () => {
  const queries = ['mail send', 'mail_send', 'mail'];
  const found = await Promise.all(queries.map((query) => search(agent(noSending), query)));
  assert.deepEqual(
    found.map((names) => names.includes('mail_send')),
    [false, false, false],
  );
  assert.deepEqual(await search(agent(noMail), 'mail'), []);
});

test('law 1 holds through search: what any query finds is effective, for any grant, selection and claims', async () => {
  await fc.assert(
    fc.asyncProperty(anyGrant, anySelection, anyClaims, fc.string(), async (grant, selection, claims, words) => {
      const { agent: made } = effectiveAgentOf(declaredAgent(grant), selection, claims);
      const effective = new Set(made.tools.map(({ name }) => name));
      for (const query of [words, 'web', ...grant.tools.map(({ definition }) => definition.name)]) {
        if (query === '') continue;
        for (const name of await search(made, query)) assert.ok(effective.has(name), name);
      }
      // Neither does a provider's own search: it has only what the turn has.
      for (const tool of shownTools({ ...made, deferral: 'provider' }))
        assert.ok(tool.deferred !== true || effective.has(tool.name));
    }),
  );
});

test('the best match comes first, and no more than are asked for', async () => {
  assert.deepEqual(await search(agent(), 'send'), ['mail_send']);
  assert.equal((await search(agent(), 'mail'))[0], 'mail_send');
  const limited = await runTool(
    toolboxGroup,
    'tool_search',
    { query: 'mail', limit: 1 },
    { conversation: talkWith(agent()) },
  );
  assert.deepEqual((limited as { loads: unknown }).loads, ['mail_send']);
});

test('announce says how much a search would find, by group', () => {
  assert.match(announce(talkWith(agent()), 0) ?? '', /\[MORE TOOLS\]\n- mail: 3 tools\nThese are not listed/);
  assert.doesNotMatch(announce(talkWith(agent(noMail)), 0) ?? '', /MORE TOOLS/);
});

const bundle = (more: string, cache = '') => `
id: app
config:
  react:
    main: { system_prompt: Hi.${cache} }
surfaces:
  as_consumer:
    agents:
      main:
        tools:
          - { name: io, kind: module, module: builtin/io, defer: true }
          - { name: time, kind: module, module: builtin/time }
          - { name: math, kind: module, module: builtin/math${more} }
models: { balanced: { provider: scripted, script: s.json } }
`;
const deferredOf = async (yaml: string): Promise<readonly string[]> => {
  const { grant } = (await load(yaml, { 's.json': '[{"text":"Hi."}]' })).agent('main');
  return grant.tools.filter(({ definition }) => definition.deferred).map(({ own }) => own);
};

test('an entry, a trait and a threshold defer, in this order of weight, and system groups stay', async () => {
  assert.deepEqual(await deferredOf(bundle('')), []);
  assert.deepEqual(await deferredOf(bundle(', defer: true')), ['calculate']);
  assert.deepEqual(await deferredOf(bundle(', defer: true, tool_traits: { calculate: { defer: false } }')), []);
  assert.deepEqual(await deferredOf(bundle(', defer: false', ', cache: { defer_over: 3 }')), [
    'time_convert',
    'time_difference',
    'time_now',
  ]);
  assert.deepEqual(await deferredOf(bundle(', defer: false', ', cache: { defer_over: 5 }')), []);
});

test('explain says which tools are found by a search', async () => {
  const rows = (await load(bundle(', defer: true'), { 's.json': '[{"text":"Hi."}]' })).explain('main');
  assert.deepEqual(rows.find(({ key }) => key === 'tools math')?.value, ['calculate (found by a search)']);
});
