// What is still being said has the name that its entry will have.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entriesOf, timelineOf } from '../../src/domain/timeline.ts';
import { aHouse, aTool } from '../support/house.ts';

test('pieces of a stream have the id of the entry that they become', async () => {
  const house = aHouse({
    tools: [aTool('look', () => 'seen')],
    script: [
      {
        thinking: 'I should look twice.',
        text: 'Let me look.',
        actions: [
          { name: 'look', arguments: { at: 'one' } },
          { name: 'look', arguments: { at: 'two' } },
        ],
      },
      { thinking: 'That is all.', text: 'Seen.' },
    ],
  });
  await house.ask('Look.');
  const streamed = new Map<string, string>();
  for (const event of house.heard)
    if (event.type === 'llm.stream.chunk' && event.payload.kind !== 'action')
      streamed.set(event.payload.entry, (streamed.get(event.payload.entry) ?? '') + event.payload.delta);
  const entries = entriesOf(timelineOf(await house.facts()));
  const told = entries.filter(({ role }) => role === 'assistant' || role === 'thinking');
  assert.deepEqual(Object.fromEntries(streamed), Object.fromEntries(told.map(({ id, text }) => [id, text])));
  const actions = house.heard.flatMap((event) =>
    event.type === 'llm.stream.chunk' && event.payload.kind === 'action' ? [event.payload.entry] : [],
  );
  assert.deepEqual(
    [...new Set(actions)],
    entries.filter(({ role }) => role === 'action').map(({ id }) => id),
  );
});
