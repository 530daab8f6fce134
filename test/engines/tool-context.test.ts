// What a tool is handed does not depend on who drives the run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEmbeddedEngine } from '../../src/adapters/engines/embedded.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import { randomIds } from '../../src/base/ids.ts';
import type { ToolContext } from '../../src/kernel/running-tool.ts';
import { createWorker } from '../../src/platform/hosting/worker.ts';
import { until } from '../cli/treadle.ts';
import { aHouse, aSignal, aTool, lastOf, silent, type House } from '../support/house.ts';

interface Seen {
  readonly house: House;
  readonly fields: string[];
  readonly begun: Promise<void>;
}

function aWorld(): Seen {
  const log = createMemoryLog({ clock: systemClock });
  const begun = aSignal();
  const fields: string[] = [];
  const wait = async (_: never, context: ToolContext): Promise<never> => {
    for (const name in context) fields.push(name);
    begun.resolve();
    return new Promise((_, reject) => {
      context.signal.addEventListener('abort', () => reject(new Error('stopped')));
    });
  };
  const house = aHouse({ log, script: [{ actions: [{ name: 'wait' }] }], tools: [aTool('wait', wait)] });
  return { house, fields, begun: begun.promise };
}

async function cancel({ house, begun }: Seen): Promise<void> {
  await begun;
  await house.post({ type: 'cancel.request', payload: { by: 'ana' } });
}

test('B055 a tool has the same under an engine as in a loop of its own, and a cancel reaches it there, too', async (t) => {
  const [bare, driven] = [aWorld(), aWorld()];
  await bare.house.say('go');
  const turns = bare.house.drive();
  await cancel(bare);
  await turns;

  const { log, ports, meta } = driven.house;
  const worker = createWorker({ ...ports, ids: randomIds }, {});
  const engine = createEmbeddedEngine({ log, clock: systemClock, logger: silent, concurrency: 1 });
  await engine.start((_, control) => worker.slice(meta, control));
  t.after(() => engine.stop({ drainMs: 0 }));
  await driven.house.say('go');
  await cancel(driven);
  await until(async () => (await driven.house.fold()).turns.length === 1);

  assert.deepEqual(driven.fields, bare.fields);
  for (const { house } of [bare, driven])
    assert.deepEqual((await lastOf(house, 'tool.result'))?.error?.code, 'cancelled');
});
