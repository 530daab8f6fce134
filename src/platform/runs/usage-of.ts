import { isoTime } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { addUsage, noUsage } from '../../domain/usage-sum.ts';
import type { ConversationRow } from '../../kernel/ports.ts';
import { permit, type Caller } from './caller.ts';
import type { RunsPorts } from './ports.ts';
import type { UsageQuery, UsageRow } from './usage.ts';

const PAGE = 500;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

export async function usage(ports: RunsPorts, caller: Caller, query: UsageQuery): Promise<readonly UsageRow[]> {
  permit(caller, 'read');
  for (const place of ['from', 'to'] as const) checkDay(place, query[place]);
  const userId = caller.scopes.has('admin') ? undefined : caller.userId;
  const { tenant } = caller;
  if (ports.ledger !== undefined) {
    const rows = await ports.ledger.sum({ ...query, tenant, userId });
    return rows.map(({ key, calls, usage: tokens, cost, knownCost, unpriced, unreported }) => ({
      ...{ key, calls, usage: tokens },
      ...(cost !== undefined && { cost }),
      ...(knownCost !== undefined && { knownCost }),
      ...(unpriced !== undefined && { unpriced }),
      ...(unreported !== undefined && { unreported }),
    }));
  }
  return counted(ports, { ...query, tenant, userId });
}

function checkDay(place: string, day: string | undefined): void {
  if (day === undefined || (DAY.test(day) && !Number.isNaN(Date.parse(day)))) return;
  throw new TreadleError('invalid_request', { place, found: JSON.stringify(day), wanted: 'a day such as 2026-07-31' });
}

/** Without a ledger: from the logs, call by call. Money is unknown then. */
async function counted(
  { log }: RunsPorts,
  { by, from, to, tenant, userId }: UsageQuery & { readonly tenant: string; readonly userId: string | undefined },
): Promise<readonly UsageRow[]> {
  const rows = new Map<string, { calls: number; usage: UsageRow['usage'] }>();
  for await (const row of all(log, tenant, userId)) {
    let model = '';
    for (let after = 0; ;) {
      const page = await log.read(row.id, after, PAGE);
      for (const fact of page) {
        if (fact.type === 'llm.request') model = `${fact.payload.model.provider}/${fact.payload.model.model}`;
        if (fact.type !== 'llm.response') continue;
        const day = isoTime(fact.at).slice(0, 10);
        if ((from !== undefined && day < from) || (to !== undefined && day > to)) continue;
        const key = { user: row.userId, agent: row.agent, model, day }[by];
        const sum = rows.get(key) ?? { calls: 0, usage: noUsage };
        rows.set(key, { calls: sum.calls + 1, usage: addUsage(sum.usage, fact.payload.usage) });
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      after = last.seq;
    }
  }
  return [...rows]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, { calls, usage: tokens }]) => ({ key, calls, usage: tokens }));
}

async function* all(
  log: RunsPorts['log'],
  tenant: string,
  userId: string | undefined,
): AsyncGenerator<ConversationRow> {
  let before: ConversationRow | undefined;
  for (;;) {
    const page = await log.list({ limit: PAGE, tenant, userId, before, archived: 'any' });
    yield* page;
    before = page.at(-1);
    if (page.length < PAGE) return;
  }
}
