// When a choice counts: from the turn that begins after it, and in no turn that had begun.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScriptFunction } from '../../src/adapters/models/script.ts';
import { ana, withHost, type HostFixture } from './a-host.ts';

const off = { patch: { disabled: { tools: { post: ['look'] } } } };

async function outcomes({ log }: HostFixture, id: string): Promise<readonly unknown[]> {
  const facts = await log.read(id, 0, 1_000);
  return facts
    .filter(({ type }) => type === 'tool.result')
    .map(({ payload }) => (payload as { outcome: string }).outcome); // of that type
}

const play: ScriptFunction = ({ userText, step }) => {
  if (userText === 'mail' && step === 0) return { actions: [{ name: 'mail', arguments: { to: 'bo' } }] };
  if ((userText === 'mail' && step === 1) || step === 0) return { actions: [{ name: 'look', arguments: {} }] };
  return { text: 'Done.' };
};

test('what is switched off while a turn runs stays with that turn, and is gone from the next', () =>
  withHost({ script: play }, async (fixture) => {
    const { host, until } = fixture;
    const { run } = await host.runs.create(ana, { prompt: 'mail' });
    const { requests } = await until(run.id, (one) => one.requests.length > 0);
    await host.selections.update(ana, 'main', off);
    const [request] = requests;
    assert.ok(request !== undefined);
    await host.runs.answer(ana, run.id, [{ request: request.id, digest: request.digest, decision: 'allow' }]);
    await until(run.id, ({ terminal }) => terminal);
    assert.deepEqual(await outcomes(fixture, run.id), ['ok', 'ok']);
    await host.runs.say(ana, run.id, { content: 'look', mode: 'followup' });
    for (let tries = 0; (await outcomes(fixture, run.id)).length < 3 && tries < 400; tries++)
      await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(await outcomes(fixture, run.id), ['ok', 'ok', 'refused']);
  }));

test('what is switched off and then sent, one right after the other, counts for what was sent', () =>
  withHost({ script: play }, async (fixture) => {
    const { host, until } = fixture;
    for (let round = 0; round < 20; round++) {
      const isOff = round % 2 === 0;
      const patch = isOff ? off.patch : { disabled: { tools: { post: false as const } } };
      // Nothing is waited for in between but that the choice is taken: as a page does it.
      const { run } = await host.selections
        .update(ana, 'main', { patch })
        .then(() => host.runs.create(ana, { prompt: 'look' }));
      await until(run.id, ({ terminal }) => terminal);
      assert.deepEqual(await outcomes(fixture, run.id), [isOff ? 'refused' : 'ok'], String(round));
    }
  }));
