// What the page makes of rows of usage: bars over time, the largest first, and files for spreadsheets.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { UsageRow } from '../../web/api/operate-types.ts';
import { csv } from '../../web/operate/csv.ts';
import { OTHERS, periodsOf, spendersOf, stackedOf, tokensOver } from '../../web/operate/usage-model.ts';

function row(key: string, period: string, cost: string | undefined, tokens = 10): UsageRow {
  const money = cost === undefined ? { unpriced: 1 } : { cost: { amount: cost, currency: 'USD' as const } };
  return { key, period, calls: 1, usage: { input: tokens, cacheRead: 5, output: 1 }, ...money };
}

describe('bars of usage', () => {
  const rows = [row('ana', '2026-11-01', '1'), row('bo', '2026-11-01', '3'), row('ana', '2026-11-03', '0.5')];
  const days = ['2026-11-01', '2026-11-02', '2026-11-03'];

  it('have a bar for every day, also one in which nothing was spent, and the largest spender first', () => {
    assert.deepEqual(stackedOf(rows, days, 'cost'), {
      series: ['bo', 'ana'],
      columns: [{ period: '2026-11-01', s0: 3, s1: 1 }, { period: '2026-11-02' }, { period: '2026-11-03', s1: 0.5 }],
    });
  });

  it('put the smallest together when there are too many to be told apart, and lose nothing', () => {
    const many = Array.from({ length: 20 }, (_, index) => row(`u${index}`, '2026-11-01', String(index + 1)));
    const { series, columns } = stackedOf(many, ['2026-11-01'], 'cost');
    assert.deepEqual([series.length, series.at(-1)], [8, OTHERS]);
    const { period: _, ...amounts } = columns[0] ?? { period: '' };
    assert.equal(
      Object.values(amounts).reduce((sum, one) => sum + one, 0),
      210,
    );
  });

  it('count as unknown what has no price, instead of as free', () => {
    const [ana] = spendersOf([row('ana', '2026-11-01', '1'), row('ana', '2026-11-02', undefined)], 'cost');
    assert.deepEqual([ana?.cost, ana?.unknown, ana?.calls], [1, 1, 2]);
  });

  it('are of tokens by their parts where that is asked for', () => {
    const [first, second] = tokensOver(rows, days);
    assert.deepEqual([first?.fresh, first?.read, second?.fresh], [20, 10, 0]);
  });

  it('are of months where days would be too many', () => {
    assert.deepEqual(periodsOf('2026-02-27', '2026-03-01').periods, ['2026-02-27', '2026-02-28', '2026-03-01']);
    const year = periodsOf('2025-12-15', '2026-11-30');
    assert.deepEqual([year.per, year.periods.length, year.periods[0]], ['month', 12, '2025-12']);
    assert.deepEqual(periodsOf('2026-03-02', '2026-03-01').periods, []);
  });
});

describe('a file for spreadsheets', () => {
  it('quotes what has to be quoted', () => {
    assert.equal(csv(['a', 'b'], [['x,y', 'say "so"']]), 'a,b\r\n"x,y","say ""so"""\r\n');
  });

  it('holds no formula that somebody’s name or model might bring', () => {
    assert.equal(
      csv(['key'], [['=HYPERLINK("x")'], ['@sum'], [-1]]),
      'key\r\n"\'=HYPERLINK(""x"")"\r\n\'@sum\r\n-1\r\n',
    );
  });
});
