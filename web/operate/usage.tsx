import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useMemo } from 'react';
import { operate } from '../api/operate.ts';
import type { UsageKey, UsageRow } from '../api/operate-types.ts';
import { Button } from '../ui/button.tsx';
import { download } from '../ui/download.ts';
import { Figures } from '../ui/figures.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Segments } from '../ui/segments.tsx';
import { money, percent, tokens } from '../ui/amounts.ts';
import { TokenBars, TokenCells, TokenHeads } from '../ui/token-bars.tsx';
import { tokenFigures } from '../ui/token-figures.ts';
import { csv } from './csv.ts';
import { OperatePage } from './operate-page.tsx';
import { SPENDING } from './sub-nav.tsx';
import { UsageFilters } from './usage-filters.tsx';
import {
  costOf,
  periodsOf,
  spendersOf,
  stackedOf,
  tokensOver,
  type Measure,
  type Spender,
  type Stacked,
} from './usage-model.ts';
import { dayInWords, StackedBars } from './stacked-bars.tsx';
import { useCaller } from './use-caller.ts';
import { useFilters, type Split } from './use-filters.ts';

const NAMES: Readonly<Record<UsageKey, string>> = { user: 'User', agent: 'Agent', model: 'Model', day: 'Day' };
const SPLITS: readonly { readonly value: Split; readonly label: string }[] = [
  { value: 'agent', label: 'by agent' },
  { value: 'model', label: 'by model' },
  { value: 'user', label: 'by user' },
  { value: 'kind', label: 'by kind of token' },
];
const MEASURES: readonly { readonly value: Measure; readonly label: string }[] = [
  { value: 'cost', label: 'Cost' },
  { value: 'tokens', label: 'Tokens' },
  { value: 'calls', label: 'Calls' },
];

/** What was spent over time, by whom, by which agent and on which model. */
export function Usage() {
  const { filters, change } = useFilters();
  const { from, to, user, agent, model, split, measure } = filters;
  const { per, periods } = useMemo(() => periodsOf(from, to), [from, to]);
  const by: UsageKey = split === 'kind' ? 'day' : split;
  const usage = useQuery({
    queryKey: ['usage', { by, per, from, to, user, agent, model }],
    queryFn: () => operate.usage({ by, per, from, to, user, agent, model }),
    placeholderData: (before) => before,
  });
  const rows = usage.data ?? [];
  const caller = useCaller().data;
  const whose =
    caller === undefined
      ? ''
      : caller.scopes.includes('admin')
        ? ` Of everybody in the tenant ${caller.tenant}.`
        : ' Yours.';
  return (
    <OperatePage title="Usage" about={`Tokens and money of every model call.${whose}`} pages={SPENDING}>
      <UsageFilters filters={filters} onChange={change} />
      {usage.isError ? (
        <Failure
          error={usage.error}
          onRetry={() => {
            void usage.refetch();
          }}
        />
      ) : null}
      {usage.isPending ? <Skeleton kind="picture" count={1} /> : null}
      {usage.isSuccess && rows.length === 0 ? (
        <Notice title="Nothing was used">
          <p>No model was called in these days, or not by those that are asked for.</p>
        </Notice>
      ) : null}
      {rows.length === 0 ? null : (
        <div className="usage" data-stale={usage.isPlaceholderData}>
          <Totals rows={rows} />
          <div className="toolbar">
            <Segments
              label="How it is told apart"
              value={split}
              options={SPLITS}
              onChange={(next) => {
                change({ split: next });
              }}
            />
            {split === 'kind' ? null : (
              <Segments
                label="What is drawn"
                value={measure}
                options={MEASURES}
                onChange={(next) => {
                  change({ measure: next });
                }}
              />
            )}
            <Button
              onClick={() => {
                download(`usage-${from}-${to}.csv`, 'text/csv', csvOf(rows, NAMES[by]));
              }}
            >
              <Download size={15} aria-hidden /> CSV
            </Button>
          </div>
          {split === 'kind' ? (
            <TokenBars rows={tokensOver(rows, periods).map((row) => ({ ...row, name: dayInWords(row.name) }))} />
          ) : (
            <Drawn
              of={stackedOf(rows, periods, measure)}
              measure={measure}
              onTokens={() => {
                change({ measure: 'tokens' });
              }}
            />
          )}
          <Spenders
            spenders={by === 'day' ? latestFirst(spendersOf(rows, 'tokens')) : spendersOf(rows, measure)}
            name={NAMES[by]}
            measure={measure}
          />
        </div>
      )}
    </OperatePage>
  );
}

/** The chart, or why there is nothing to draw: models without a price and scripts cost nothing that is known. */
function Drawn({
  of,
  measure,
  onTokens,
}: {
  readonly of: Stacked;
  readonly measure: Measure;
  readonly onTokens: () => void;
}) {
  const isNothing = of.columns.every(({ period: _, ...amounts }) => Object.values(amounts).every((one) => one === 0));
  if (!isNothing) return <StackedBars of={of} measure={measure} />;
  return (
    <div className="no-chart">
      <p>
        {measure === 'cost' ? 'No cost is known of these calls: their models have no price here.' : 'Nothing to draw.'}
      </p>
      {measure === 'cost' ? <Button onClick={onTokens}>Draw their tokens</Button> : null}
    </div>
  );
}

function latestFirst(days: readonly Spender[]): readonly Spender[] {
  return days.toSorted((left, right) => (left.key < right.key ? 1 : -1));
}

function Totals({ rows }: { readonly rows: readonly UsageRow[] }) {
  const all = spendersOf(rows, 'cost');
  const sum = (of: (one: Spender) => number): number => all.reduce((total, one) => total + of(one), 0);
  const unknown = sum((one) => one.unknown);
  const input = sum(({ figures: { read, written, fresh } }) => read + written + fresh);
  const read = sum((one) => one.figures.read);
  return (
    <Figures
      of={[
        {
          name: 'Cost',
          value: money(sum((one) => one.cost)),
          more:
            unknown === 0
              ? undefined
              : `and ${unknown === 1 ? 'one call' : `${tokens(unknown)} calls`} of which it is not known`,
        },
        { name: 'Tokens', value: tokens(sum((one) => one.tokens)) },
        { name: 'Model calls', value: tokens(sum((one) => one.calls)) },
        { name: 'Input from the cache', value: percent(read, input) },
      ]}
    />
  );
}

function Spenders({
  spenders,
  name,
  measure,
}: {
  readonly spenders: readonly Spender[];
  readonly name: string;
  readonly measure: Measure;
}) {
  const most = Math.max(...spenders.map((one) => one[measure]), 0);
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label={`Usage by ${name.toLowerCase()}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">{name}</th>
            <th scope="col" className="figure">
              Calls
            </th>
            <TokenHeads />
            <th scope="col" className="figure">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {spenders.map((one) => (
            <tr key={one.key}>
              <th scope="row">
                {one.key}
                <span
                  className="share-line"
                  aria-hidden
                  style={{ width: `${most === 0 ? 0 : (one[measure] / most) * 100}%` }}
                />
              </th>
              <td className="figure">{tokens(one.calls)}</td>
              <TokenCells of={one.figures} />
              <td className="figure">
                {one.unknown === one.calls ? 'unknown' : money(one.cost)}
                {one.unknown === 0 || one.unknown === one.calls ? null : (
                  <small className="cell-more">and what is not known</small>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function csvOf(rows: readonly UsageRow[], name: string): string {
  const head = [
    'Period',
    name,
    'Calls',
    'Cache read',
    'Cache write',
    'Fresh input',
    'Output',
    'Known cost in USD',
    'Calls of unknown cost',
  ];
  return csv(
    head,
    rows.map((row) => {
      const { read, written, fresh, output } = tokenFigures(row.usage);
      const unknown = (row.unpriced ?? 0) + (row.unreported ?? 0);
      return [row.period, row.key, row.calls, read, written, fresh, output, costOf(row), unknown];
    }),
  );
}
