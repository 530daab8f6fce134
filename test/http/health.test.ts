import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryControlStore } from '../../src/adapters/stores/control/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import { TreadleError } from '../../src/base/errors.ts';
import { aServer } from './server.ts';

test('a process whose store cannot be reached is alive all the same', async (t) => {
  let isAway = false;
  const kept = createMemoryControlStore({ clock: systemClock });
  const any = (): boolean => {
    if (isAway) throw new TreadleError('log_unavailable', { place: 'the database' });
    return kept.any();
  };
  const { call } = await aServer(t, { control: { ...kept, any } });
  isAway = true;
  assert.deepEqual([(await call('GET', '/health')).status, (await call('GET', '/api/v1/agents')).status], [200, 503]);
});
