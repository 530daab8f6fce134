import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { consequence, sumOf, type Pricing } from '../../src/assembly/consequence.ts';
import { effectiveAgentOf } from '../../src/assembly/effective.ts';
import type { EffectiveAgent } from '../../src/domain/agent.ts';
import type { CacheMark } from '../../src/domain/conversation.ts';
import { emptySelection } from '../../src/domain/selection.ts';
import { mergeSelection } from '../../src/domain/selection-patch.ts';
import { declaredAgent, aGrant, aTool, anyClaims, anyGrant, anySelection } from './grants.ts';
import { aTalk } from '../support/bundles.ts';

const sonnet = { provider: 'anthropic', model: 'sonnet' };
const haiku = { provider: 'anthropic', model: 'haiku' };
const gpt = { provider: 'openai', model: 'gpt' };
const mark = (more: Partial<CacheMark> = {}): CacheMark => ({
  ...sonnet,
  at: 1_000,
  livesMs: 300_000,
  tokens: 18_400,
  sections: {},
  turn: 1,
  revision: 'r1',
  selection: undefined,
  cleared: 0,
  ...more,
});
const warm = (...marks: CacheMark[]) => ({ conversation: { ...aTalk(), cached: marks }, now: 2_000 });
/** Dollars by the part that is billed: written tokens cost twelve times what read ones do. */
const price: Pricing = (_model, { cacheRead = 0, cacheWrite = 0, input = 0 }) => ({
  cost: String((cacheRead * 3 + cacheWrite * 37.5 + input * 30) / 10_000_000),
  basis: 'list',
});
const grant = (models = [sonnet]) =>
  aGrant([aTool('fetch'), aTool('search')], { models, supportedModels: [{ ref: haiku, label: 'Haiku' }] });
const agent = (patch = {}, more: Parameters<typeof declaredAgent>[1] = {}, models = [sonnet]): EffectiveAgent =>
  effectiveAgentOf(declaredAgent(grant(models), more), mergeSelection(emptySelection, patch), {}).agent;
const searchOff = { disabled: { tools: { web: ['search'] } } };

test('a tool that is taken out of the prompt rebuilds all of it, with tokens, price and until when', () => {
  assert.deepEqual(consequence(agent(), agent(searchOff), warm(mark()), price), {
    kind: 'all',
    section: 'tools',
    realisation: 'remove',
    tokens: 18_400,
    money: { rebuild: '0.069', instead: '0.00552' },
    assumes: { warmUntil: 301_000, prices: 'list' },
  });
});

test('another model rebuilds all of it', () => {
  const { kind, section, realisation } = consequence(agent(), agent({ model: haiku }), warm(mark()), price);
  assert.deepEqual([kind, section, realisation], ['all', 'model', undefined]);
});

test('a model whose cache is still warm reads what it has', () => {
  const marks = [mark({ ...haiku, tokens: 10_000 }), mark()];
  const { kind, tokens } = consequence(agent(), agent({ model: haiku }), warm(...marks), price);
  assert.deepEqual([kind, tokens], ['from', 8_400]);
});

test('a tool that stays listed is free, and announced', () => {
  const keep = { keepListed: true as const };
  const { kind, realisation } = consequence(agent({}, keep), agent(searchOff, keep), warm(mark()), price);
  assert.deepEqual([kind, realisation], ['free', 'announce']);
});

test('where a provider takes allowed names, a tool is masked, and that is free', () => {
  const after = agent(searchOff, {}, [gpt]);
  const { kind, realisation } = consequence(agent({}, {}, [gpt]), after, warm(mark(gpt)), price);
  assert.deepEqual([kind, realisation], ['free', 'mask']);
  assert.deepEqual(
    after.listed?.map(({ name }) => name),
    ['fetch', 'search'],
  );
});

test('in a conversation that is cold, or has no turns, everything is free', () => {
  for (const warmth of [warm(), { ...warm(mark()), now: 900_000 }]) {
    assert.equal(consequence(agent(), agent({ ...searchOff, model: haiku }), warmth, price).kind, 'free');
  }
});

test('a price that nobody knows is unknown, and the tokens are told all the same', () => {
  const nobody: Pricing = () => ({ cost: undefined, basis: 'unknown' });
  const { tokens, money, assumes } = consequence(agent(), agent(searchOff), warm(mark()), nobody);
  assert.deepEqual([tokens, money, assumes.prices], [18_400, { rebuild: undefined, instead: undefined }, 'unknown']);
});

test('what costs in several conversations is added up, and unknown in one is unknown in all', () => {
  const one = consequence(agent(), agent(searchOff), warm(mark()), price);
  const add = (amounts: readonly string[]) => String(amounts.map(Number).reduce((sum, amount) => sum + amount, 0));
  assert.deepEqual([sumOf([one, one], add).tokens, sumOf([one, one], add).money?.rebuild], [36_800, '0.138']);
  const unknown = { ...one, money: { rebuild: undefined, instead: undefined } };
  assert.equal(sumOf([one, unknown], add).money?.rebuild, undefined);
});

test('an account that comes or goes is free: what it keeps away stays listed', () => {
  fc.assert(
    fc.property(anyGrant, anySelection, anyClaims, anyClaims, (any, selection, before, after) => {
      const made = (held: typeof before) => effectiveAgentOf(declaredAgent(any), selection, held).agent;
      const [{ provider, model } = sonnet] = made(before).models;
      assert.equal(consequence(made(before), made(after), warm(mark({ provider, model })), price).kind, 'free');
    }),
  );
});

test('law 1: what is listed and may not be called is within the grant too, and dispatch takes what may be called', () => {
  fc.assert(
    fc.property(anyGrant, anySelection, anyClaims, fc.boolean(), (any, selection, held, keep) => {
      const { agent: made } = effectiveAgentOf(declaredAgent(any, keep ? { keepListed: true } : {}), selection, held);
      const granted = new Set(any.tools.map(({ definition }) => definition.name));
      const listed = made.listed ?? made.tools;
      assert.ok(listed.every(({ name }) => granted.has(name)));
      assert.ok(made.tools.every((tool) => listed.includes(tool)));
    }),
  );
});
