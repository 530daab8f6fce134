import type { Usage } from '../../domain/usage.ts';
import type { MaybePromise } from '../../base/promise.ts';
import type { LedgerQuery } from '../../kernel/ledger.ts';
import type { Cost } from './snapshot.ts';

export type UsageKey = 'user' | 'agent' | 'model' | 'day';

export interface UsageQuery {
  readonly by: UsageKey;
  /** A row for each day or month of its own. */
  readonly per?: 'day' | 'month' | undefined;
  /** Days in UTC, `2026-07-31`, both included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** One user's. Whoever is no admin gets their own in any case. */
  readonly user?: string | undefined;
  /** One agent's, by the key that rows by agent have. */
  readonly agent?: string | undefined;
  /** `provider/model`. */
  readonly model?: string | undefined;
}

export interface UsageRow {
  /** Unique among the rows of a period. An agent's is its name, as `agents` gives it. */
  readonly key: string;
  readonly period?: string;
  readonly calls: number;
  readonly usage: Usage;
  /** Absent when any part of it is unknown. */
  readonly cost?: Cost;
  /** What is known of it; and the calls whose model has no known price, and of which nothing was reported. */
  readonly knownCost?: Cost;
  readonly unpriced?: number;
  readonly unreported?: number;
}

/** What was spent, by model call. Where there is none, tokens are counted from the logs and money is unknown. */
export interface UsageLedger {
  /** Of a run and all below it. Undefined: unknown. */
  costOf(runId: string): MaybePromise<Cost | undefined>;
  /** Facts up to `through` are not this run's spending: a fork begins with them. */
  skip(runId: string, through: number): MaybePromise<void>;
  sum(query: LedgerQuery): MaybePromise<readonly (UsageRow & { readonly bundle?: string })[]>;
}
