import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoopFault, runLoop, type LoopResult } from '../../src/platform/run-loop.ts';
import type { Json } from '../../src/base/json.ts';
import { casesAbsent, readCases } from '../support/cases.ts';

interface LoopCase {
  readonly name: string;
  readonly decisions: readonly unknown[];
  readonly max_iterations: unknown;
  readonly expected: LoopResult | { readonly raises: string; readonly message: string };
}

/** The tool of the requirement document, with its checks in its order. */
function calculateExposure(args: Json): Json {
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    throw new LoopFault('Expected position_value and portfolio_value');
  const keys = Object.keys(args).sort();
  if (keys.join() !== 'portfolio_value,position_value')
    throw new LoopFault('Expected position_value and portfolio_value');
  const { position_value: position, portfolio_value: portfolio } = args as Record<string, unknown>;
  if (
    typeof position !== 'number' ||
    typeof portfolio !== 'number' ||
    !Number.isFinite(position) ||
    !Number.isFinite(portfolio)
  ) {
    throw new LoopFault('Values must be finite numbers');
  }
  if (position < 0 || portfolio <= 0) throw new LoopFault('Position must be nonnegative and portfolio positive');
  const exposure = 100 * (position / portfolio);
  if (!Number.isFinite(exposure)) throw new LoopFault('Exposure must be finite');
  return { exposure_pct: exposure };
}

/** Decisions in order; when they run out the last one repeats. */
function authored(decisions: readonly unknown[]): () => unknown {
  let asked = 0;
  return () => decisions[Math.min(asked++, decisions.length - 1)];
}

const absent = casesAbsent();

test('the small loop gives the requirement program its exact outputs', { skip: absent }, async (t) => {
  for (const one of readCases('loop-cases.json') as readonly LoopCase[]) {
    await t.test(one.name, async () => {
      const run = async (): Promise<LoopResult> =>
        runLoop(authored(one.decisions), {
          tools: { calculate_exposure: calculateExposure },
          maxIterations: one.max_iterations as number,
        });
      if ('raises' in one.expected) await assert.rejects(run, { name: 'RangeError', message: one.expected.message });
      else assert.equal(JSON.stringify(await run()), JSON.stringify(one.expected));
    });
  }
});

test('an exception that is no fault of a decision leaves the loop', async () => {
  const broken = (): never => {
    throw new TypeError('a slip of the author');
  };
  await assert.rejects(runLoop(broken, { tools: {} }), { name: 'TypeError', message: 'a slip of the author' });
});

test('a fault of the decision function is told with its own words, also none', async () => {
  const faulty = (): never => {
    throw new LoopFault('');
  };
  assert.deepEqual(await runLoop(faulty, { tools: {} }), { status: 'error', iterations: 1, toolCalls: 0, error: '' });
});

test('a decision function that edits what it was shown changes nothing', async () => {
  const shown: number[] = [];
  const decide = (messages: readonly unknown[]): unknown => {
    shown.push(messages.length);
    (messages as unknown[]).length = 0;
    return shown.length < 3 ? { type: 'tool', tool: 'echo', arguments: {} } : { type: 'finish', answer: 'done' };
  };
  await runLoop(decide, { tools: { echo: (args) => args } });
  assert.deepEqual(shown, [1, 3, 5]);
});
