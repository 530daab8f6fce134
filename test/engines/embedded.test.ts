import { after } from 'node:test';
import path from 'node:path';
import { createEmbeddedEngine } from '../../src/adapters/engines/embedded.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import type { Logger } from '../../src/kernel/ports.ts';
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
