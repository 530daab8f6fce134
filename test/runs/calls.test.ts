// Model calls of a run, as the ledger has them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { cachedModels } from '../support/cached-model.ts';
import { aBundle, ana, aCaller, withHost } from './a-host.ts';

const PRICED = aBundle('prices: { "scripted/*": { input: 1, output: 10, cache_read: 0.1 } }');
const script = [
  { actions: [{ name: 'look', arguments: {} }], usage: { input: 1_000, output: 100 } },
  { fault: 'overloaded' as const, retryAfterMs: 1 },
  { text: 'Seen.', usage: { input: 100, cacheRead: 1_000, output: 50 } },
];

test('each call says what it was billed, what that cost, and what of its prompt was another', () =>
  withHost({ bundle: PRICED, script }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Look.' });
    await until(run.id, ({ terminal }) => terminal);
    const { calls, hasMore } = await host.runs.calls(ana, run.id);
    assert.deepEqual(
      calls.map(({ turn, iteration, attempt, failure, cost }) => [
        turn,
        iteration,
        attempt,
        failure?.class,
        cost?.amount,
      ]),
      [
        [1, 1, 1, undefined, '0.002'],
        [1, 2, 1, 'overloaded', '0'],
        [1, 2, 2, undefined, '0.0007'],
      ],
    );
    assert.ok(calls[0]?.changed.includes('instructions') === true && !calls[2]?.changed.includes('instructions'));
    assert.equal(hasMore, false);
  }));

test('calls are read page by page, and turns are counted from the beginning', () =>
  withHost({}, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'One.' });
    await until(run.id, ({ terminal }) => terminal);
    await host.runs.say(ana, run.id, { content: 'Two.' });
    await until(run.id, ({ terminal, turns }) => terminal && turns === 2);
    const first = await host.runs.calls(ana, run.id, { limit: 1 });
    const second = await host.runs.calls(ana, run.id, { limit: 1, after: first.calls[0]?.seq });
    assert.deepEqual([first.hasMore, second.hasMore], [true, false]);
    assert.deepEqual([first.calls[0]?.turn, second.calls[0]?.turn, second.calls.length], [1, 2, 1]);
    await assert.rejects(host.runs.calls(ana, run.id, { limit: 0 }), { code: 'invalid_request' });
  }));

test('a warm prompt that became cold says so at its call, and others’ calls are nobody’s to see', async () => {
  const [sonnet, haiku] = ['claude-sonnet-4-6', 'claude-haiku-4-5'];
  const bundle = aBundle(
    '',
    `system_prompt: "${'Be patient. '.repeat(600)}", supported_models: [{ provider: anthropic, model: ${haiku} }]`,
  ).replace('scripted, model: scripted', `anthropic, model: ${sonnet}`);
  const models = cachedModels([{ text: 'One.' }, { text: 'Two.' }], systemClock);
  await withHost({ bundle, models, environment: { ANTHROPIC_API_KEY: 'none' } }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'One.' });
    await until(run.id, ({ terminal }) => terminal);
    const patch = { model: { provider: 'anthropic', model: haiku } };
    await host.selections.update(ana, 'main', { patch, conversation: run.id, decision: 'accept' });
    await host.runs.say(ana, run.id, { content: 'Two.' });
    await until(run.id, ({ terminal, turns }) => terminal && turns === 2);
    const { calls } = await host.runs.calls(ana, run.id);
    assert.deepEqual(
      calls.map(({ model, cold }) => [model, cold?.cause, cold?.change, cold?.billed]),
      [
        [sonnet, undefined, undefined, undefined],
        [haiku, 'ours', 'selection', 0],
      ],
    );
    assert.ok((calls[1]?.cold?.predicted ?? 0) > 1_000);
    await assert.rejects(host.runs.calls(aCaller({ userId: 'bo' }), run.id), { code: 'run_unknown' });
  });
});
