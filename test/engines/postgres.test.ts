import { after, before, describe } from 'node:test';
import { createEmbeddedEngine } from '../../src/adapters/engines/embedded.ts';
import { openPostgresLog } from '../../src/adapters/stores/postgres.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { Log } from '../../src/kernel/log.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { engineConformance } from '../conformance/engine.ts';
import { startPostgres, withoutPostgres, type Cluster } from '../support/postgres.ts';

const logger: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('the embedded engine over PostgreSQL', { skip: withoutPostgres }, () => {
  let cluster: Cluster;
  let schemas = 0;
  let underWay = 0;
  before(async () => {
    cluster = await startPostgres();
  });
  after(() => cluster.stop());

  /** The log, with what it is asked counted until it is answered. */
  async function openLog(clock: Clock): Promise<Log> {
    const url = `${cluster.url}?schema=s${++schemas}`;
    // No timer but the engine's: what would be looked at by the second is not, and news is of this process.
    const schedule = () => () => undefined;
    const log = await openPostgresLog({ url, clock, origin: 'test', ownTime: true, schedule });
    const asked = Object.entries(log).map(([name, method]: [string, unknown]) => {
      if (typeof method !== 'function') return [name, method];
      return [
        name,
        (...given: unknown[]): unknown => {
          const answer: unknown = Reflect.apply(method, log, given);
          if (!(answer instanceof Promise)) return answer;
          underWay++;
          return answer.finally(() => underWay--);
        },
      ];
    });
    return Object.fromEntries(asked) as Log; // the same methods
  }

  engineConformance('embedded, postgres', {
    openLog,
    create: (options) => createEmbeddedEngine({ ...options, logger }),
    crowd: 200,
    async settle() {
      for (let idle = 0; idle < 3;) {
        await new Promise((resolve) => setImmediate(resolve));
        idle = underWay === 0 ? idle + 1 : 0;
      }
    },
  });
});
