import type { Command } from 'commander';
import { TreadleError } from '../base/errors.ts';
import { runLimits, type RunLimits } from '../domain/run-limits.ts';
import { parseDuration } from './drive-run.ts';

/** What a person may type of the limits of a run. Empty where they typed none. */
export interface LimitOptions {
  readonly maxIterations?: string;
  readonly maxActions?: string;
  readonly maxTokens?: string;
  readonly maxMoney?: string;
  readonly maxTime?: string;
}

interface LimitOption {
  readonly option: string;
  readonly typed: keyof LimitOptions;
  readonly key: keyof RunLimits;
  /** How an ended turn names it. */
  readonly code: string;
  readonly example: string;
  readonly about: string;
}

export const LIMIT_OPTIONS: readonly LimitOption[] = [
  {
    ...{ option: '--max-iterations', typed: 'maxIterations', key: 'maxIterations', code: 'max_iterations' },
    ...{ example: '<count>', about: 'model calls of a turn, as far as the agent allows' },
  },
  {
    ...{ option: '--max-actions', typed: 'maxActions', key: 'maxActions', code: 'max_actions' },
    ...{ example: '<count>', about: 'actions of the whole run' },
  },
  {
    ...{ option: '--max-tokens', typed: 'maxTokens', key: 'maxTokens', code: 'max_tokens' },
    ...{ example: '<count>', about: 'tokens of the whole run' },
  },
  {
    ...{ option: '--max-money', typed: 'maxMoney', key: 'maxMoney', code: 'max_money' },
    ...{ example: '<usd>', about: 'US dollars of the whole run, such as 0.50' },
  },
  {
    ...{ option: '--max-time', typed: 'maxTime', key: 'wallMs', code: 'max_wall_ms' },
    ...{ example: '<time>', about: 'time at work on a turn, such as 90s or 10m; waiting does not count' },
  },
];

export function addLimitOptions(command: Command): Command {
  for (const { option, example, about } of LIMIT_OPTIONS)
    command.option(`${option} ${example}`, `the limit from now on: ${about}`);
  return command;
}

/** The limits of a run with what was typed in place of those; undefined where nothing was. Throws `usage`. */
export function changedLimits(before: RunLimits, options: LimitOptions): RunLimits | undefined {
  let limits = before;
  for (const { option, typed, key } of LIMIT_OPTIONS) {
    const text = options[typed];
    if (text === undefined) continue;
    const value = key === 'wallMs' ? parseDuration(text, option) : key === 'maxMoney' ? text : count(text);
    const changed = runLimits.safeParse({ ...limits, [key]: value });
    if (!changed.success)
      throw new TreadleError('usage', { place: option, found: text, wanted: WANTED[key] ?? 'a whole number' });
    limits = changed.data;
  }
  return limits === before ? undefined : limits;
}

const WANTED: Partial<Record<keyof RunLimits, string>> = {
  maxMoney: 'US dollars, such as 0.50',
  wallMs: 'a time, such as 90s',
};

function count(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}
