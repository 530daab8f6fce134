import { useQuery } from '@tanstack/react-query';
import { operate } from '../api/operate.ts';
import type { Budget } from '../api/operate-types.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { money, percent } from '../ui/amounts.ts';
import { OperatePage } from './operate-page.tsx';
import { dayInWords } from './stacked-bars.tsx';
import { SPENDING } from './sub-nav.tsx';

const REFRESH_MS = 10_000;

/** What may be spent, how much of it is gone or set aside, and who cannot go on. */
export function Budgets() {
  const budgets = useQuery({ queryKey: ['budgets'], queryFn: operate.budgets, refetchInterval: REFRESH_MS });
  const all = budgets.data ?? [];
  const blocked = new Set(all.filter((one) => one.isBlocked).map((one) => `${one.holder} ${one.name}`));
  const holders = Map.groupBy(all, (one) => `${one.holder} ${one.name}`);
  return (
    <OperatePage
      title="Budgets"
      about="What users and the tenant may spend in a day or a month, in UTC."
      pages={SPENDING}
    >
      {budgets.isError ? (
        <Failure
          error={budgets.error}
          onRetry={() => {
            void budgets.refetch();
          }}
        />
      ) : null}
      {budgets.isPending ? <Skeleton kind="cards" count={3} /> : null}
      {budgets.isSuccess && all.length === 0 ? <NoBudgets /> : null}
      {blocked.size === 0 ? null : (
        <aside className="finding" data-tone="bad" role="status">
          <strong>{blocked.size === 1 ? 'One cannot go on:' : `${blocked.size} cannot go on:`}</strong>{' '}
          {[...blocked].join(', ')}. Their calls are refused until the period is over or the budget is raised.
        </aside>
      )}
      {KINDS.map(({ kind, title }) => {
        const own = [...holders.values()].filter(([one]) => one?.holder === kind);
        return own.length === 0 ? null : (
          <section key={kind} className="budget-kind">
            <h2>{title}</h2>
            <ul>
              {own
                .toSorted((left, right) => mostSpent(right) - mostSpent(left))
                .map((budgets) => (
                  <Holder key={budgets[0]?.name} budgets={budgets} />
                ))}
            </ul>
          </section>
        );
      })}
    </OperatePage>
  );
}

const KINDS = [
  { kind: 'tenant', title: 'The tenant' },
  { kind: 'user', title: 'Users' },
] as const;

function shareOf({ cap, spent, reserved }: Budget): number {
  return Number(cap) === 0 ? 1 : (Number(spent) + Number(reserved)) / Number(cap);
}

/** Of the budget that is nearest to its end. */
function mostSpent(budgets: readonly Budget[]): number {
  return Math.max(...budgets.map(shareOf));
}

function Holder({ budgets }: { readonly budgets: readonly Budget[] }) {
  return (
    <li className="budget-holder">
      <h3>
        {budgets[0]?.name} <small>{budgets[0]?.holder}</small>
      </h3>
      <ul>
        {budgets.map((one) => (
          <BudgetBar key={`${one.period} ${one.measure}`} budget={one} />
        ))}
      </ul>
    </li>
  );
}

/** From here on a budget is nearly spent. */
const NEARLY = 0.8;

/** Spent, set aside and left of one budget. */
function BudgetBar({ budget }: { readonly budget: Budget }) {
  const { measure, period, cap, spent, reserved, left, isBlocked } = budget;
  const [most, gone, held] = [Number(cap), Number(spent), Number(reserved)];
  const share = (part: number): string => `${most === 0 ? 100 : Math.min(100, (part / most) * 100)}%`;
  const inWords = (amount: string): string => (measure === 'money' ? money(amount) : Number(amount).toLocaleString());
  return (
    <li className="budget" data-tone={isBlocked ? 'bad' : shareOf(budget) >= NEARLY ? 'wait' : 'plain'}>
      <header>
        <strong>{inWords(spent)}</strong>
        <span>
          of {inWords(cap)} {measure === 'money' ? '' : measure}{' '}
          {period.length === 7 ? `in ${dayInWords(period)}` : `on ${dayInWords(period)}`}
        </span>
        {isBlocked ? (
          <span className="chip" data-tone="bad">
            nothing left
          </span>
        ) : (
          <span>{percent(gone, most)}</span>
        )}
      </header>
      <div
        className="meter"
        role="meter"
        aria-label={`${measure} ${period}`}
        aria-valuemin={0}
        aria-valuemax={Math.max(most, gone + held)}
        aria-valuenow={gone + held}
        aria-valuetext={`${inWords(spent)} spent, ${inWords(reserved)} set aside, ${inWords(left)} left`}
      >
        <span data-part="spent" style={{ width: share(gone) }} />
        <span data-part="held" style={{ width: share(held) }} />
      </div>
      <p>
        {inWords(left)} left
        {held === 0 ? '' : `, ${inWords(reserved)} set aside for what is under way`}
      </p>
    </li>
  );
}

const SERVE = 'treadle serve agents/desk.yaml --budgets budgets.yaml';

function NoBudgets() {
  return (
    <Notice title="Nobody has a budget">
      <p>
        Spending is counted and not limited. Budgets are a file that the server is started with; those of single runs
        are in their limits.
      </p>
      <p className="command">
        <code>{SERVE}</code>
        <CopyButton text={SERVE} />
      </p>
    </Notice>
  );
}
