import { after, before, describe } from 'node:test';
import { openPostgresLog } from '../../src/adapters/stores/postgres.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { Log } from '../../src/kernel/ports.ts';
import { logConformance } from '../conformance/log.ts';
import { startPostgres, withoutPostgres, type Cluster } from '../support/postgres.ts';

describe('a log in PostgreSQL', { skip: withoutPostgres }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startPostgres();
  });
  after(() => cluster.stop());

  let schemas = 0;
  const urls = new Map<Log, string>();
  const open = async (url: string, clock: Clock): Promise<Log> => {
    const log = await openPostgresLog({ url, clock, origin: `test-${urls.size}`, ownTime: true });
    urls.set(log, url);
    // Whoever watches is told once more when the line comes up; here that is over before anybody does.
    const isUp = new Promise<void>((resolve) => log.line.onUp(resolve));
    log.onWork(() => undefined);
    await isUp;
    return log;
  };
  logConformance('postgres', {
    open: (clock) => open(`${cluster.url}?schema=s${++schemas}&pool=4`, clock),
    reopen: (log, clock) => open(urls.get(log) ?? '', clock),
  });
});
