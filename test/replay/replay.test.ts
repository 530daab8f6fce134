import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fact } from '../../src/domain/event.ts';
import type { ConversationMeta } from '../../src/kernel/log.ts';
import { replayRun } from '../../src/platform/replay/replay-run.ts';
import { replay } from '../../src/platform/replay/replay.ts';
import type { ReplayReport } from '../../src/platform/replay/report.ts';
import { goldenCases, play } from '../support/golden.ts';
import { histories, readHistory } from '../support/histories.ts';
import { aHouse, aTool, silent } from '../support/house.ts';
import { live } from '../support/life.ts';

/** What a log says happened. Of an aside only its answer is on record, so what was asked is another text. */
function told(facts: readonly Fact[]): readonly string[] {
  return facts.map(({ type, turnId, iteration, payload }) => {
    const isAside = type === 'llm.request' && payload.purpose !== undefined && payload.purpose !== 'wrap_up';
    return JSON.stringify([type, turnId, iteration, isAside ? { ...payload, sections: undefined } : payload]);
  });
}

function metaOf([first]: readonly Fact[]): ConversationMeta {
  assert.ok(first !== undefined);
  const { conversationId: id, agentPath, at } = first;
  return { id, agentPath, agent: agentPath, bundle: 'past', userId: 'ana', tenant: 'local', createdAt: at };
}

/** All that is not as it was. */
function differences({ calls, actions, verdicts, ended, beyond, notes }: ReplayReport): unknown {
  return {
    calls: calls.filter((one) => !one.same),
    actions,
    verdicts,
    ended: ended.filter((one) => !one.same),
    beyond,
    notes,
  };
}

const NONE = { calls: [], actions: [], verdicts: [], ended: [], beyond: undefined, notes: [] };

for (const golden of goldenCases()) {
  test(`a replay of the golden case ${golden.name} asks the same, and writes the same log`, async () => {
    const { facts, row } = await play(golden);
    const report = await replay(row, facts, { logger: silent });
    assert.deepEqual([report.same, differences(report)], [true, NONE]);
    const replayed = await replayRun(row, facts, { logger: silent });
    assert.deepEqual(told(replayed.facts), told(facts));
  });
}

test('a replay keeps in step with lives of crashes, late answers and meddling, to the last fact', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const { facts } = await live(seed);
    const replayed = await replayRun(metaOf(facts), facts, { logger: silent });
    assert.deepEqual({ seed, facts: told(replayed.facts) }, { seed, facts: told(facts) });
  }
});

for (const name of histories) {
  test(`a replay of the log ${name} comes to an end`, async () => {
    const facts = readHistory(name);
    const report = await replay(metaOf(facts), facts, { logger: silent });
    assert.equal(report.calls.length, new Set(report.calls.map(({ n }) => n)).size);
  });
}

test('a replay of a coherent log of an earlier version asks the same', async () => {
  const facts = readHistory('v1-waits.jsonl');
  assert.deepEqual(differences(await replay(metaOf(facts), facts, { logger: silent })), NONE);
});

test('a replay calls no model and runs no tool', async () => {
  let ran = 0;
  const house = aHouse({
    script: [{ actions: [{ name: 'pay', arguments: {} }] }, { text: 'paid' }],
    tools: [aTool('pay', () => ++ran, { effect: 'once' })],
  });
  await house.ask('Pay.');
  const facts = await house.facts();
  const report = await replay(house.meta, facts, { logger: silent });
  assert.deepEqual([report.same, ran, (await house.facts()).length], [true, 1, facts.length]);
});

test('a replay up to a call says nothing of what comes after it', async () => {
  const house = aHouse({
    script: [{ actions: [{ name: 'look', arguments: {} }] }, { text: 'seen' }],
    tools: [aTool('look', () => 'it')],
  });
  await house.ask('Look.');
  const report = await replay(house.meta, await house.facts(), { upTo: 1, logger: silent });
  assert.deepEqual([report.same, report.calls.map(({ n }) => n), report.ended], [true, [1], []]);
});

test('a log that ends in the middle of a call, or of a tool, is replayed as far as it goes', async () => {
  const house = aHouse({
    script: [{ actions: [{ name: 'look', arguments: {} }] }, { text: 'seen' }],
    tools: [aTool('look', () => 'it')],
  });
  await house.ask('Look.');
  const facts = await house.facts();
  for (let cut = 1; cut < facts.length; cut++) {
    const report = await replay(house.meta, facts.slice(0, cut), { logger: silent });
    assert.deepEqual([cut, differences(report)], [cut, NONE]);
  }
});
