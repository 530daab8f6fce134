import type { Instant } from '../base/clock.ts';
import type { MaybePromise } from '../base/promise.ts';
import type { Usage } from '../domain/usage.ts';

/** Whose spending it is. */
export interface Spender {
  readonly conversationId: string;
  readonly tenant: string;
  readonly userId: string;
  readonly agent: string;
  readonly bundle: string;
  /** The run itself, then those above it up to the root: each of them pays. */
  readonly runs: readonly string[];
}

/** What one fact cost: a model call that is over, or an action that was begun. Money is decimal text in US dollars. */
export interface LedgerEntry {
  readonly seq: number;
  readonly at: Instant;
  readonly call?: {
    readonly provider: string;
    readonly model: string;
    readonly usage: Usage;
    /** Absent: unknown. */
    readonly cost?: string | undefined;
    readonly failed: boolean;
  };
  /** What budgets are charged: as billed, or a guess where nothing was reported that may have been billed. */
  readonly charge: { readonly tokens: number; readonly money?: string | undefined };
}

/** What a budget can be of. */
export const MEASURES = ['calls', 'actions', 'tokens', 'money'] as const;
export type Measure = (typeof MEASURES)[number];

/** The most that an account may spend in a period. */
export interface Cap {
  /** See `accountOfRun`, `accountOfUser`, `accountOfTenant`. */
  readonly account: string;
  /** `2026-11-30`, `2026-11`, or empty for all time. */
  readonly period: string;
  readonly calls?: number | undefined;
  readonly actions?: number | undefined;
  readonly tokens?: number | undefined;
  readonly money?: string | undefined;
}

/** Money and tokens set aside before they are spent. */
export interface Reservation {
  /** The same id again replaces the one before. */
  readonly id: string;
  readonly conversationId: string;
  /** The process. What another one had set aside for this conversation is let go: it no longer drives it. */
  readonly owner: string;
  /** After this nothing is set aside any more, whatever became of the owner. */
  readonly until: Instant;
  readonly calls: number;
  readonly actions: number;
  readonly tokens: number;
  readonly money: string;
  readonly caps: readonly Cap[];
}

export type Reserved =
  | { readonly ok: true }
  /** The first cap that it does not fit under. Nothing is set aside. */
  | {
      readonly ok: false;
      readonly account: string;
      readonly period: string;
      readonly measure: Measure;
      readonly cap: string;
      readonly spent: string;
      readonly reserved: string;
      /** What is left under all caps together; absent where none is of it. */
      readonly left: { readonly tokens?: number; readonly money?: string };
    };

/** What was spent on an account in a period. */
export interface Spent {
  readonly calls: number;
  readonly actions: number;
  readonly tokens: number;
  readonly money: string;
}

export interface Cost {
  readonly amount: string;
  readonly currency: 'USD';
}

export interface LedgerQuery {
  readonly by: 'user' | 'agent' | 'model' | 'day';
  /** A sum for each day or month of its own, instead of one for all of them. */
  readonly per?: 'day' | 'month' | undefined;
  readonly tenant: string;
  readonly userId?: string | undefined;
  /** One agent, as its conversations name it; with `bundles`, only where one of these is what they name as their bundle. */
  readonly agent?: string | undefined;
  readonly bundles?: readonly string[] | undefined;
  /** `provider/model`. */
  readonly model?: string | undefined;
  /** Days in UTC, both included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface LedgerRow {
  readonly key: string;
  /** Of an agent: what its conversations name as their bundle. Agents of two bundles may have one name. */
  readonly bundle?: string;
  /** `2026-11-30` or `2026-11`, where each has a sum of its own. */
  readonly period?: string;
  readonly calls: number;
  readonly failed: number;
  readonly actions: number;
  readonly usage: Usage;
  /** Absent when any part of it is unknown. */
  readonly cost?: Cost;
  /** What is known of it. */
  readonly knownCost: Cost;
  /** Calls of models without a known price. */
  readonly unpriced: number;
  /** Calls that may have been billed and of which nothing was reported. */
  readonly unreported: number;
}

/**
 * What was spent, once per fact.
 *
 * It can always be made whole from the logs: for each conversation it knows up to which fact it has counted, and counting and
 * knowing are one transaction. So a crash between a fact and its entry loses nothing and a repetition adds nothing.
 */
export interface Ledger {
  /** The last fact that was counted; 0 for none. */
  position(conversationId: string): MaybePromise<number>;
  /**
   * Counts entries of one conversation up to the fact `through`, and lets go of what was set aside for them. What stands at
   * or before the position is left out.
   */
  add(
    spender: Spender,
    entries: readonly LedgerEntry[],
    options: { readonly through: number; readonly settles?: readonly string[] | undefined },
  ): MaybePromise<void>;
  /** Says that facts up to `through` are not this conversation's spending, such as those that a fork begins with. */
  skip(conversationId: string, through: number): MaybePromise<void>;
  /** Sets aside under all caps or none. Of many at once no more get through than fit, in all processes that share the ledger. */
  reserve(reservation: Reservation): MaybePromise<Reserved>;
  /** Lets go of everything that was set aside for a conversation. */
  release(conversationId: string): MaybePromise<void>;
  spent(account: string, period: string): MaybePromise<Spent>;
  /** What is set aside on an account at the moment. */
  reserved(account: string): MaybePromise<Spent>;
  /** Of a run and all below it. Undefined where nothing is known of it, or not all. */
  costOf(runId: string): MaybePromise<Cost | undefined>;
  /** In the order of their periods and keys. */
  sum(query: LedgerQuery): MaybePromise<readonly LedgerRow[]>;
  close(): MaybePromise<void>;
}

/** A run and all below it. */
export function accountOfRun(runId: string): string {
  return `run:${runId}`;
}

export function accountOfUser(tenant: string, userId: string): string {
  return `user:${JSON.stringify([tenant, userId])}`;
}

export function accountOfTenant(tenant: string): string {
  return `tenant:${tenant}`;
}

/** Days and months in UTC, in which the accounts of users and tenants are counted. */
export function periodsOf(day: string): { readonly day: string; readonly month: string } {
  return { day, month: day.slice(0, 7) };
}

/** Who pays: a run with all below it, for all its time, or a user or tenant within a day or month. */
export type Purse = { readonly of: 'run' } | { readonly of: 'user' | 'tenant'; readonly per: 'day' | 'month' };

/** What plugins may know of the ledger. */
export interface Spending {
  /** Spent and set aside. */
  of(conversationId: string, purse: Purse): MaybePromise<{ readonly tokens: number; readonly money: string }>;
  /** US dollars that a run and all below it have cost. Undefined where not all of it is known. */
  costOf(conversationId: string): MaybePromise<string | undefined>;
}
