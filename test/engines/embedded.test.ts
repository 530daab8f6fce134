import { after, test } from 'node:test';
import path from 'node:path';
import { createEmbeddedEngine } from '../../src/adapters/engines/embedded.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { engineConformance, type EngineOptions } from '../conformance/engine.ts';
import { temporaryFolder } from '../stores/temporary.ts';

const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const create = (options: EngineOptions) => createEmbeddedEngine({ ...options, logger });

engineConformance('embedded, memory', { openLog: (clock) => createMemoryLog({ clock }), create, crowd: 100_000 });

const folder = temporaryFolder({ after });
let files = 0;
engineConformance('embedded, sqlite', {
  openLog: (clock) =>
    openSqliteLog({
      file: path.join(folder, `${files++}.db`),
      clock,
      synchronous: 'normal',
      schedule: () => () => undefined,
    }),
  create,
  crowd: 2_000,
});

test('hundreds of runs that wait for a slow model keep no other one waiting', async () => {
  const clock = systemClock;
  const log = createMemoryLog({ clock });
  for (let n = 0; n < 300; n++) {
    const id = `run_${n}`;
    const meta = { id, agent: 'main', bundle: 'b', userId: 'u', tenant: 't', agentPath: 'main', createdAt: n };
    log.create(meta);
    log.post(id, { type: 'io.input', payload: { text: 'go', mode: 'message' } });
  }
  const engine = create({ log, clock });
  let answer: () => void = () => undefined;
  const model = new Promise<void>((resolve) => (answer = resolve));
  const begun = new Set<string>();
  await new Promise<void>((resolve) => {
    void engine.start(async (id) => {
      const lease = log.take(id, 'me', 60_000);
      if (begun.add(id).size === 300) resolve();
      await model;
      if (lease !== undefined) log.release(lease);
      return 'idle';
    });
  });
  answer();
  await engine.stop({ drainMs: 1_000 });
});
