import { after } from 'node:test';
import path from 'node:path';
import { openSqliteLog } from '../../src/adapters/stores/sqlite.ts';
import type { Log } from '../../src/kernel/log.ts';
import { logConformance } from '../conformance/log.ts';
import { temporaryFolder } from './temporary.ts';

for (const synchronous of ['full', 'normal'] as const) {
  const folder = temporaryFolder({ after });
  const files = new Map<Log, string>();
  logConformance(`sqlite, ${synchronous}`, {
    async open(clock) {
      const file = path.join(folder, `${files.size}.db`);
      const log = await openSqliteLog({ file, clock, synchronous });
      files.set(log, file);
      return log;
    },
    reopen: (log, clock) => openSqliteLog({ file: files.get(log) ?? '', clock, synchronous }),
  });
}
