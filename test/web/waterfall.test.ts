// Where a span of time stands on the drawing of a run.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { scaleOf, spansOf, ticksOf, timeByKind, type Span } from '../../web/inspect/waterfall-model.ts';

function span(from: number, to: number, kind: Span['kind'] = 'action'): Span {
  return { id: `${from}`, kind, label: '', isName: true, detail: '', from, to, iteration: undefined, isBad: false };
}

describe('the time scale of a turn', () => {
  it('is in proportion where something is always done', () => {
    const { at, cuts } = scaleOf([span(0, 50), span(50, 100, 'call')], 0, 100);
    assert.deepEqual([at(0), at(25), at(50), at(100), cuts], [0, 0.25, 0.5, 1, []]);
  });

  it('draws the hours of a person short, and says how many were left out', () => {
    const hour = 3_600_000;
    const { at, cuts } = scaleOf([span(0, 100), span(100, hour, 'wait'), span(hour, hour + 100)], 0, hour + 100);
    assert.ok(at(hour) - at(100) < 0.1);
    assert.deepEqual(
      cuts.map((one) => one.ms),
      [hour - 100],
    );
  });

  it('never turns time around and never leaves the drawing', () => {
    const spans = fc.array(fc.tuple(fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: 0, max: 5_000 })), {
      minLength: 1,
    });
    fc.assert(
      fc.property(spans, fc.array(fc.integer({ min: 0, max: 15_000 }), { minLength: 2 }), (given, times) => {
        const { at } = scaleOf(
          given.map(([from, ms]) => span(from, from + ms)),
          0,
          15_000,
        );
        const drawn = times.sort((left, right) => left - right).map(at);
        for (const [index, place] of drawn.entries()) {
          assert.ok(place >= 0 && place <= 1);
          assert.ok(place >= (drawn[index - 1] ?? 0) - 1e-9);
        }
      }),
    );
  });
});

describe('the axis of a turn', () => {
  it('has round points, none of them beyond the end', () => {
    const spans = [span(0, 930)];
    const ticks = ticksOf(scaleOf(spans, 0, 930), 0, 930, 7);
    assert.deepEqual(
      ticks.map(({ ms }) => ms),
      [0, 200, 400, 600, 800],
    );
  });

  it('tells nothing of parts of a millisecond', () => {
    const ticks = ticksOf(scaleOf([span(0, 2)], 0, 2), 0, 2, 7);
    assert.deepEqual(
      ticks.map(({ ms }) => ms),
      [0, 1],
    );
  });

  it('leaves out points that would stand on one another where time was cut out', () => {
    const hour = 3_600_000;
    const spans = [span(0, 100), span(100, hour, 'wait'), span(hour, hour + 100)];
    const ticks = ticksOf(scaleOf(spans, 0, hour + 100), 0, hour + 100, 7);
    for (const [index, { at }] of ticks.entries()) assert.ok(index === 0 || at - (ticks[index - 1]?.at ?? 0) > 0.08);
  });

  it('has few of them where there is little room, and none at the very edge', () => {
    const of = (ms: number) => ticksOf(scaleOf([span(0, ms)], 0, ms), 0, ms, 3);
    for (const ms of [100, 930, 8_700, 60_000]) {
      assert.ok(of(ms).length <= 4);
      assert.ok(of(ms).every(({ at }) => at < 0.9));
    }
  });
});

it('a call that somebody stopped is cut off, and has not failed', () => {
  const call = (failure: { class: 'aborted' | 'server'; message: string }) =>
    spansOf([
      {
        ...{ id: 'call-1', digest: '', role: 'call', text: '', position: 1, revision: 1, at: '2026-12-01T00:00:00Z' },
        data: {
          iteration: 1,
          state: 'failed',
          usage: {},
          attempts: [{ provider: 'p', model: 'm', at: 0, ms: 5, failure }],
        },
      },
    ]).map(({ kind, label, isBad }) => ({ kind, label, isBad }));
  assert.deepEqual(call({ class: 'aborted', message: '' }), [{ kind: 'call', label: 'call 1, cut off', isBad: false }]);
  assert.deepEqual(call({ class: 'server', message: '' }), [{ kind: 'failed', label: 'call 1', isBad: true }]);
});

it('time is summed by kind, also of what goes on', () => {
  const open = { ...span(10, 0, 'call'), to: undefined };
  assert.deepEqual(timeByKind([span(0, 5), span(2, 4), open], 30), {
    ...{ call: 20, failed: 0, action: 7, below: 0, outside: 0, wait: 0 },
  });
});
