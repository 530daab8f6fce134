import { useMemo } from 'react';
import { Bar, CartesianGrid, ComposedChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { ModelCall } from '../api/operate-types.ts';
import { Figures } from '../ui/figures.tsx';
import { Notice } from '../ui/notice.tsx';
import { TICK, TokenBars, TokenCells, TokenHeads, TOOLTIP } from '../ui/token-bars.tsx';
import { tokenFigures, type TokenFigures } from '../ui/token-figures.ts';
import { money, percent, tokens } from '../ui/amounts.ts';

interface CallRow extends TokenFigures {
  readonly name: string;
  readonly call: ModelCall;
  readonly predicted: number | undefined;
  readonly cost: number | undefined;
}

/** What each model call was expected to read, what it was billed, and what it cost: first as pictures, then as a table. */
export function Tokens({ calls }: { readonly calls: readonly ModelCall[] }) {
  const rows = useMemo(() => calls.map(rowOf), [calls]);
  const sum = (key: keyof TokenFigures): number => rows.reduce((total, row) => total + row[key], 0);
  const input = sum('read') + sum('written') + sum('fresh');
  if (input + sum('output') === 0)
    return (
      <Notice title="No tokens were reported">
        <p>No model call of this run has said yet what it used.</p>
      </Notice>
    );
  const unknown = calls.filter((one) => one.cost === undefined && one.ms !== undefined).length;
  const known = rows.reduce((total, row) => total + (row.cost ?? 0), 0);
  const cold = rows.filter(({ call }) => call.cold !== undefined);
  return (
    <div className="tokens">
      <Figures
        of={[
          { name: 'Model calls', value: tokens(calls.length) },
          { name: 'Input tokens', value: tokens(input) },
          { name: 'Read from the cache', value: percent(sum('read'), input), more: `${tokens(sum('read'))} tokens` },
          { name: 'Output tokens', value: tokens(sum('output')) },
          {
            name: 'Cost',
            value: money(known),
            more: unknown === 0 ? undefined : `and ${unknown} of unknown price`,
          },
        ]}
      />
      {cold.map(({ name, call }) => (
        <Cold key={call.seq} name={name} call={call} />
      ))}
      <h3>Tokens of each call</h3>
      <TokenBars rows={rows} />
      {known === 0 ? null : (
        <>
          <h3>Cost of each call</h3>
          <CostBars rows={rows} />
        </>
      )}
      <details className="behind">
        <summary>The same as a table</summary>
        <div className="table-frame" tabIndex={0} role="region" aria-label="Tokens of each model call">
          <table>
            <thead>
              <tr>
                <th scope="col">Call</th>
                <th scope="col">Model</th>
                <th scope="col" className="figure">
                  Expected
                </th>
                <TokenHeads />
                <th scope="col" className="figure">
                  Cost
                </th>
                <th scope="col">Remark</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.call.seq}>
                  <th scope="row">{row.name}</th>
                  <td>{row.call.served ?? row.call.model}</td>
                  <td className="figure">{row.predicted === undefined ? '–' : tokens(row.predicted)}</td>
                  <TokenCells of={row} />
                  <td className="figure">{money(row.call.cost?.amount)}</td>
                  <td>{row.call.cold?.what ?? row.call.failure?.message ?? shortfall(row)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </div>
  );
}

/** Which change made a warm prompt cold, and by how much. */
function Cold({ name, call }: { readonly name: string; readonly call: ModelCall }) {
  const { cold } = call;
  if (cold === undefined) return null;
  return (
    <aside className="finding" data-tone="wait">
      <strong>Call {name} was cold.</strong> {sentence(cold.what)} Expected {tokens(cold.predicted)} tokens from the
      cache{cold.billed === undefined ? '' : `, got ${tokens(cold.billed)}`}.{' '}
      <span className="finding-why">
        {cold.change === undefined ? CAUSES[cold.cause ?? 'unknown'] : `Done by ${CHANGES[cold.change]}.`}
      </span>
    </aside>
  );
}

const CAUSES = {
  ours: 'We changed the prompt.',
  expired: 'It was left alone for too long.',
  provider: 'The provider says so.',
  unknown: 'Nobody knows why.',
} as const;

const CHANGES = {
  model: 'a change of the model',
  selection: 'a choice of the user',
  bundle: 'an edit of the bundle',
  compaction: 'a summary of earlier turns',
  clearing: 'clearing old results',
  gate: 'a gate',
} as const;

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function shortfall({ predicted, read }: CallRow): string {
  if (predicted === undefined || predicted <= read) return '';
  return `${tokens(predicted - read)} fewer from the cache than expected`;
}

function CostBars({ rows }: { readonly rows: readonly CallRow[] }) {
  return (
    <div className="chart" aria-hidden>
      <ResponsiveContainer width="100%" height={130}>
        <ComposedChart accessibilityLayer={false} data={[...rows]} margin={{ left: 0, right: 8, top: 8 }}>
          <CartesianGrid vertical={false} stroke="var(--line)" />
          <XAxis dataKey="name" tickLine={false} axisLine={false} tick={TICK} minTickGap={12} />
          <YAxis tickLine={false} axisLine={false} width={64} tick={TICK} tickCount={3} tickFormatter={money} />
          <Tooltip cursor={{ fill: 'var(--hover)' }} contentStyle={TOOLTIP} formatter={paid} />
          <Bar dataKey="cost" name="Cost" fill="var(--accent)" maxBarSize={44} isAnimationActive={false} />
        </ComposedChart>
      </ResponsiveContainer>
    </div>
  );
}

function paid(value: unknown): string {
  return money(typeof value === 'number' ? value : undefined);
}

function rowOf(call: ModelCall): CallRow {
  return {
    name: nameOf(call),
    call,
    // Of a call that failed nothing was read; where nothing was expected there is nothing to miss.
    predicted: call.failure === undefined && call.expectedRead !== 0 ? call.expectedRead : undefined,
    cost: call.cost === undefined ? undefined : Number(call.cost.amount),
    ...tokenFigures(call.usage),
  };
}

/** `2.1`; `2.1 again` for a further attempt, and what it is for where it is no decision. */
export function nameOf({ turn, iteration, attempt, purpose }: ModelCall): string {
  return `${turn}.${iteration}${attempt > 1 ? ` #${attempt}` : ''}${purpose === undefined ? '' : ` ${purpose}`}`;
}
