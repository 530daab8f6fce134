import type { Clock } from '../../base/clock.ts';
import { isObject } from '../../base/json.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Ledger } from '../../kernel/ledger.ts';
import type { Log } from '../../kernel/log.ts';
import type { Logger } from '../../kernel/logger.ts';
import { approvalPolicy } from '../../plugins/gates/approval-policy.ts';
import { tokenBudget } from '../../plugins/gates/token-budget.ts';
import type { LoadedBundle } from '../bundle/load.ts';
import type { Metering } from './install.ts';
import { createMeter, pricesOf } from './meter.ts';

export interface LocalMeteringOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** Whoever opens it closes it. */
  readonly openLedger: () => Promise<Ledger>;
}

/**
 * Counts what runs spend without a server, where a gate of the bundle asks for it: the ledger is that of the data folder, so a
 * day's ceiling holds over all programs that run there. What a program had not counted when it ended is counted first.
 */
export async function localMetering(
  { id, bundle, plugins }: Pick<LoadedBundle, 'id' | 'bundle' | 'plugins'>,
  { log, clock, ids, logger, openLedger }: LocalMeteringOptions,
): Promise<Metering | undefined> {
  if (!plugins.some(asksWhatWasSpent)) return undefined;
  const meter = createMeter({ ledger: await openLedger(), log, clock, logger });
  const own = pricesOf(bundle);
  await meter.catchUp((of) => (of === id ? own : pricesOf({})));
  return { meter, owner: ids.next('meter') };
}

function asksWhatWasSpent({ id, config }: LoadedBundle['plugins'][number]): boolean {
  if (id === tokenBudget.id) return true;
  const rules = id === approvalPolicy.id && isObject(config) ? config['rules'] : undefined;
  return Array.isArray(rules) && rules.some((rule) => isObject(rule) && rule['cost_over'] !== undefined);
}
