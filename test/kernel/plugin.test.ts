// What installing a plugin registers, and in which order its gates are asked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { systemClock } from '../../src/base/clock.ts';
import { createBus } from '../../src/kernel/bus.ts';
import { definePlugin, install } from '../../src/kernel/plugin.ts';
import type { Logger } from '../../src/kernel/logger.ts';

const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

function installed(priority?: number) {
  const bus = createBus({ clock: systemClock, logger, record: () => Promise.reject(new Error('nothing is recorded')) });
  const plugin = definePlugin({
    id: 'gate.two',
    about: 'Judges twice.',
    config: z.strictObject({}),
    setup(host) {
      host.before('before:llm.request', () => undefined, { priority: 10 });
      host.before('before:tool.invoke', () => undefined);
    },
  });
  return install(plugin, {}, { bus, clock: systemClock, logger, priority }).manifest;
}

test('a manifest says what a plugin judges, and where it stands among the gates', () => {
  const { gates, priorities } = installed();
  assert.deepEqual(
    [gates, priorities],
    [
      ['before:llm.request', 'before:tool.invoke'],
      [10, 50],
    ],
  );
});

test('a priority that the bundle gives a plugin stands over the plugin’s own', () => {
  assert.deepEqual(installed(7).priorities, [7, 7]);
});
