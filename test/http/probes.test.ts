import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProbes } from '../../src/http/probes.ts';

test('a probe that fails says so, and not what it knows of the database', async (t) => {
  const warned: unknown[] = [];
  const probes = await startProbes({
    hostname: '127.0.0.1',
    port: 0,
    check: () => Promise.reject(new Error('postgres://agents@db is away')),
    figures: { read: () => Promise.reject(new Error('unused')) } as never, // no figure is read here
    logger: { debug: () => 0, info: () => 0, warn: (line) => warned.push(line), error: () => 0 },
  });
  t.after(() => probes.close());
  const reply = await fetch(`${probes.url}/ready`);
  assert.deepEqual([reply.status, await reply.json(), warned], [503, { ready: false }, ['a probe failed']]);
});
