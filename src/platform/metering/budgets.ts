import { z } from 'zod';
import { dayOf, type Instant } from '../../base/clock.ts';
import type { RunLimits } from '../../domain/run-limits.ts';
import { accountOfRun, accountOfTenant, accountOfUser, periodsOf, type Cap } from '../../kernel/ledger.ts';
import type { Payer } from './run-tree.ts';

const whole = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** The most of one period. Absent is no limit. */
const budget = z.strictObject({
  /** Model calls, failed ones too. */
  calls: whole.optional(),
  /** Actions that are begun. */
  actions: whole.optional(),
  /** Input and output tokens, cached ones too. */
  tokens: whole.optional(),
  /** US dollars. */
  money: z
    .union([z.number().min(0), z.string().regex(/^\d{1,12}(\.\d{1,12})?$/)])
    .transform(String)
    .optional(),
});

/** Days and months are those of UTC. */
const periods = z.strictObject({ day: budget.optional(), month: budget.optional() });

/** What users and tenants of a server may spend. `users` and `tenants` name those that have other budgets than all. */
export const budgets = z.strictObject({
  user: periods.optional(),
  tenant: periods.optional(),
  /** By user id, or by `tenant/user id` where the id alone does not say who. */
  users: z.record(z.string(), periods).optional(),
  tenants: z.record(z.string(), periods).optional(),
});
export type Budgets = z.infer<typeof budgets>;
type Periods = z.infer<typeof periods>;

/** Who has the budget that was reached: it stands in the code that the turn ends with. */
export type Holder = 'run' | 'user' | 'tenant';

export interface HeldCap extends Cap {
  readonly holder: Holder;
}

/** Every cap that a call of a run comes under: the run's own, those of the runs above it, its user's and its tenant's. */
export function capsOf(
  { runs, tenant, userId }: Pick<Payer, 'runs' | 'tenant' | 'userId'>,
  limitsOf: (runId: string) => RunLimits | undefined,
  { user, tenant: all, users = {}, tenants = {} }: Budgets,
  now: Instant,
): readonly HeldCap[] {
  const caps: HeldCap[] = [];
  for (const run of runs) {
    const { maxTokens: tokens, maxMoney: money } = limitsOf(run) ?? {};
    if (tokens !== undefined || money !== undefined)
      caps.push({ holder: 'run', account: accountOfRun(run), period: '', tokens, money });
  }
  const add = (holder: Holder, account: string, given: Periods | undefined): void => {
    const { day, month } = periodsOf(dayOf(now));
    if (given?.day !== undefined) caps.push({ holder, account, period: day, ...given.day });
    if (given?.month !== undefined) caps.push({ holder, account, period: month, ...given.month });
  };
  add('user', accountOfUser(tenant, userId), own(users, `${tenant}/${userId}`) ?? own(users, userId) ?? user);
  add('tenant', accountOfTenant(tenant), own(tenants, tenant) ?? all);
  return caps;
}

function own(all: Readonly<Record<string, Periods>>, name: string): Periods | undefined {
  return Object.hasOwn(all, name) ? all[name] : undefined;
}
