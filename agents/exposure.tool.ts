import { z } from 'zod';
import type { AuthoredTool } from '../src/kernel/tool.ts';

const input = z.strictObject({
  position_value: z.number().describe('Value of the position; 0 or more.'),
  portfolio_value: z.number().describe('Value of the whole portfolio, in the same currency; more than 0.'),
});

export const calculate_exposure: AuthoredTool<typeof input> = {
  name: 'calculate_exposure',
  description: 'What share of a portfolio one position is, in per cent: 100 * (position_value / portfolio_value).',
  input,
  effect: 'read',
  run: exposure,
};

/** Checks its own arguments too, so that it can be called without a schema before it. The order decides what is told. */
function exposure(given: unknown): { exposure_pct: number } {
  if (typeof given !== 'object' || given === null || !hasExactly(given, ['position_value', 'portfolio_value'])) {
    throw new Error('Expected position_value and portfolio_value');
  }
  const { position_value: position, portfolio_value: portfolio } = given as Record<string, unknown>; // both are there
  if (!isFiniteNumber(position) || !isFiniteNumber(portfolio)) throw new Error('Values must be finite numbers');
  if (position < 0 || portfolio <= 0) throw new Error('Position must be nonnegative and portfolio positive');
  const percent = 100 * (position / portfolio);
  if (!Number.isFinite(percent)) throw new Error('Exposure must be finite');
  return { exposure_pct: percent };
}

function hasExactly(given: object, keys: readonly string[]): boolean {
  return Object.keys(given).length === keys.length && keys.every((key) => Object.hasOwn(given, key));
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
