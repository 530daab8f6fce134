// What a tool says of its arguments counts as a gate's word does, and what it shows goes with the question.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRequests } from '../../src/domain/conversation.ts';
import { deny, hold } from '../../src/kernel/verdict.ts';
import { toolResult } from '../../src/kernel/tool.ts';
import { aHouse, aTool, lastOf, type HouseOptions } from '../support/house.ts';

const asks = { actions: [{ name: 'go', arguments: { to: 'there' } }] };

function aWalk(more: Parameters<typeof aTool>[2], options: Partial<HouseOptions> = {}) {
  const went: unknown[] = [];
  const house = aHouse({
    script: [asks, { text: 'Done.' }],
    tools: [aTool('go', (args) => void went.push(args), { effect: 'once', ...more })],
    ...options,
  });
  return { house, went };
}

test('a tool that says no does not run, and the model reads why', async () => {
  const { house, went } = aWalk({ judge: () => deny('not there', 'far') });
  await house.ask('Go.');
  assert.deepEqual(went, []);
  assert.deepEqual((await lastOf(house, 'tool.result'))?.error, { code: 'far', message: 'not there' });
  assert.deepEqual(await lastOf(house, 'gate.verdict'), {
    question: 'before:tool.invoke',
    gate: 'go',
    verdict: 'deny',
    reason: 'not there',
    code: 'far',
    action: 't1-1-1',
  });
});

test('a tool that wants a person waits for one, shows what would happen, and runs once allowed', async () => {
  const preview = [{ type: 'text' as const, text: '+there', format: 'diff' as const }];
  const { house, went } = aWalk({ judge: () => hold('Go there?'), preview: () => preview });
  const waiting = await house.ask('Go.');
  const [request] = waiting.turn === undefined ? [] : openRequests(waiting.turn);
  assert.deepEqual([request?.question, request?.gate, request?.preview], ['Go there?', 'go', preview]);
  assert.deepEqual(went, []);
  await house.post({
    type: 'hitl.responded',
    payload: { request: request?.request ?? '', decision: 'allow', by: 'ana' },
  });
  await house.drive();
  assert.deepEqual(went, [{ to: 'there' }]);
});

test('a person may change what the tool asked about', async () => {
  const { house, went } = aWalk({ judge: () => hold('Go there?') });
  await house.ask('Go.');
  await house.post({
    type: 'hitl.responded',
    payload: { request: 't1-1-1-a1', decision: 'edit', arguments: { to: 'here' }, by: 'ana' },
  });
  await house.drive();
  assert.deepEqual(went, [{ to: 'here' }]);
});

test('a no of the tool beats the hold of a gate, and the hold of a tool loses to the no of a gate', async () => {
  const held = aWalk(
    { judge: () => deny('no') },
    { plugins: (bus) => bus.before('before:tool.invoke', () => hold('?'), { source: 'g' }) },
  );
  assert.equal((await held.house.ask('Go.')).turn, undefined);
  const denied = aWalk(
    { judge: () => hold('?') },
    { plugins: (bus) => bus.before('before:tool.invoke', () => deny('no'), { source: 'g' }) },
  );
  assert.equal((await denied.house.ask('Go.')).turn, undefined);
  assert.deepEqual([held.went, denied.went], [[], []]);
});

test('a tool that throws when it is asked is a no', async () => {
  const { house, went } = aWalk({
    judge: () => {
      throw new Error('broken');
    },
  });
  await house.ask('Go.');
  assert.deepEqual(went, []);
  assert.deepEqual((await lastOf(house, 'tool.result'))?.error, { code: 'gate_failed', message: 'broken' });
});

test('a preview that fails leaves the question with its arguments', async () => {
  const { house } = aWalk({ judge: () => hold('?'), preview: () => Promise.reject(new Error('broken')) });
  await house.ask('Go.');
  const asked = await lastOf(house, 'hitl.requested');
  assert.deepEqual([asked?.arguments, asked?.preview], [{ to: 'there' }, undefined]);
});

test('what is for people alone is on record and never in front of the model', async () => {
  let seen = '';
  const house = aHouse({
    script: (view) => {
      if (view.results.length === 0) return asks;
      seen = JSON.stringify(view.results);
      return { text: 'Done.' };
    },
    tools: [
      aTool('go', () =>
        toolResult({
          value: 1,
          content: [{ type: 'text', text: 'for your eyes', format: 'diff', audience: 'people' }],
        }),
      ),
    ],
  });
  await house.ask('Go.');
  assert.equal(seen.includes('for your eyes'), false);
  assert.equal((await lastOf(house, 'tool.result'))?.content?.length, 1);
});
