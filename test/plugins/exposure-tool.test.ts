import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calculate_exposure } from '../../agents/exposure.tool.ts';
import { compileTool } from '../../src/platform/grant/catalog.ts';
import { casesAbsent, readCases } from '../support/cases.ts';
import { aContext } from '../support/tool-context.ts';

/** As the requirement document calls it: with anything at all, and no schema before it. */
function exposure(given: unknown): unknown {
  return calculate_exposure.run(given as never, aContext());
}

const FAULTS = {
  E5: 'Expected position_value and portfolio_value',
  E6: 'Values must be finite numbers',
  E7: 'Position must be nonnegative and portfolio positive',
  E8: 'Exposure must be finite',
} as const;

interface LoopCase {
  readonly name: string;
  readonly decisions: readonly { readonly tool?: string; readonly arguments?: unknown }[];
  readonly expected: { readonly status?: string; readonly iterations?: number; readonly error?: string };
}

interface Extra {
  readonly observations: readonly { readonly arguments: unknown; readonly exposure_pct: number }[];
}

test('each fault of the arguments is told in the words of the requirement program', { skip: casesAbsent() }, (t) => {
  const told = new Map<string, number>();
  for (const { name, decisions, expected } of readCases('loop-cases.json') as readonly LoopCase[]) {
    const decision = decisions[(expected.iterations ?? 1) - 1];
    const code = Object.entries(FAULTS).find(([, message]) => message === expected.error)?.[0];
    if (code === undefined || decision === undefined) continue;
    assert.throws(() => exposure(decision.arguments), { message: expected.error }, name);
    told.set(code, (told.get(code) ?? 0) + 1);
  }
  assert.deepEqual([...told.keys()].sort(), Object.keys(FAULTS), 'every fault has a case');
  t.diagnostic(`${[...told.values()].reduce((sum, count) => sum + count, 0)} cases`);
});

test('observations agree with the requirement program to the last bit', { skip: casesAbsent() }, () => {
  const { observations } = readCases('loop-cases-extra.json') as Extra;
  assert.equal(observations.length, 30);
  for (const { arguments: given, exposure_pct } of observations) {
    const observed = exposure(given) as { exposure_pct: number };
    assert.ok(Object.is(observed.exposure_pct, exposure_pct), JSON.stringify({ given, observed, exposure_pct }));
    assert.deepEqual(Object.keys(observed), ['exposure_pct']);
  }
});

test('shape is checked before type, type before range, range before the result', () => {
  const order: readonly (readonly [given: unknown, fault: keyof typeof FAULTS])[] = [
    [{ position_value: 'x', portfolio_value: 0, more: 1 }, 'E5'],
    [JSON.parse('{"position_value":1,"portfolio_value":2,"__proto__":{}}'), 'E5'],
    [[1, 2], 'E5'],
    [undefined, 'E5'],
    [{ position_value: true, portfolio_value: 0 }, 'E6'],
    [{ position_value: -1, portfolio_value: null }, 'E6'],
    [{ position_value: -1, portfolio_value: 0 }, 'E7'],
    [{ position_value: 1, portfolio_value: -0 }, 'E7'],
    [{ position_value: 1e308, portfolio_value: 1e-308 }, 'E8'],
  ];
  for (const [given, fault] of order) assert.throws(() => exposure(given), { message: FAULTS[fault] });
});

test('the division comes first, and the edges of what is allowed are allowed', () => {
  const pairs: readonly (readonly [position: number, portfolio: number, percent: number])[] = [
    [8000, 10000, 80],
    [1, 3, 33.33333333333333],
    [0, 1, 0],
    [15, 10, 150],
    [5e-324, 1e308, 0],
  ];
  for (const [position_value, portfolio_value, exposure_pct] of pairs) {
    assert.deepEqual(exposure({ position_value, portfolio_value }), { exposure_pct });
  }
});

test('the model is shown two numbers and nothing else, and the tool only reads', () => {
  const { definition } = compileTool(calculate_exposure, 'test');
  assert.equal(definition.effect, 'read');
  const { properties, required, additionalProperties } = definition.inputSchema;
  assert.deepEqual(
    { keys: Object.keys(properties as object), required, additionalProperties },
    {
      keys: ['portfolio_value', 'position_value'],
      required: ['position_value', 'portfolio_value'],
      additionalProperties: false,
    },
  );
});
