import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fact, FactType } from '../../src/domain/event.ts';
import { entriesOf, timelineOf } from '../../src/domain/timeline.ts';
import { aHouse, aTool } from '../support/house.ts';

/** The log of a turn with one action up to a fact of a type, and a worker that takes the turn up again after it. */
async function takenUpAfter(type: FactType): Promise<readonly Fact[]> {
  const house = aHouse({
    script: [{ actions: [{ name: 'look', arguments: {} }] }, { text: 'seen' }],
    tools: [aTool('look', () => 'it')],
  });
  await house.ask('Look.');
  const facts = await house.facts();
  const before = facts.slice(0, facts.findIndex((fact) => fact.type === type) + 1);
  const start = facts.find((fact) => fact.type === 'agent.turn.start');
  assert.ok(start !== undefined);
  const resumed = { ...start, seq: before.length + 1, payload: { digest: start.payload.digest, resumed: true } };
  return [...before, resumed];
}

for (const [type, says] of [
  ['llm.request', true],
  ['tool.invoke', true],
  ['tool.result', false],
] as const)
  test(`a turn that is taken up after ${type} ${says ? 'says' : 'does not say'} that the program stopped`, async () => {
    const entries = entriesOf(timelineOf(await takenUpAfter(type)));
    assert.equal(
      entries.some((one) => one.role === 'notice' && one.data.kind === 'restart'),
      says,
    );
  });
