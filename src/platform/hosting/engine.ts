import type { DbosQueue } from '../../adapters/engines/dbos/queue.ts';
import type { PostgresLog } from '../../adapters/stores/postgres.ts';
import { TreadleError } from '../../base/errors.ts';
import type { Engine } from '../../kernel/engine.ts';
import type { Log } from '../../kernel/log.ts';
import type { Environment } from '../bundle/environment.ts';
import type { EngineNeeds } from './host.ts';
import { LEASE_MS } from './worker.ts';

export const ENGINES = ['embedded', 'dbos'] as const;

/** What hands out runs that have work. */
export type EngineName = (typeof ENGINES)[number];

/** What was named, else what `TREADLE_ENGINE` says, else the embedded one. Throws `usage`. */
export function engineName(named: string | undefined, environment: Environment): EngineName {
  const variable = environment['TREADLE_ENGINE'];
  const given = named ?? (variable === '' ? undefined : variable) ?? 'embedded';
  const known = ENGINES.find((name) => name === given);
  if (known !== undefined) return known;
  throw new TreadleError('usage', {
    place: named === undefined ? 'TREADLE_ENGINE' : '--engine',
    found: JSON.stringify(given),
    wanted: ENGINES.join(' or '),
  });
}

/** What makes the engine for what was opened; undefined where the log is the queue. */
export async function engineOver(
  { log, queue }: { readonly log: Log; readonly queue?: DbosQueue | undefined },
  leaseMs = LEASE_MS,
): Promise<((needs: EngineNeeds) => Engine) | undefined> {
  if (queue === undefined) return undefined;
  const { createDbosEngine } = await import('../../adapters/engines/dbos.ts');
  return (needs) => createDbosEngine({ ...needs, queue, log: log as PostgresLog, leaseMs }); // queues stand beside no other log
}
