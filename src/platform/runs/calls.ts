import type { Instant } from '../../base/clock.ts';
import type { FactPayload } from '../../domain/event.ts';
import type { ModelFailure } from '../../domain/model.ts';
import type { StopKind } from '../../domain/status.ts';
import type { Usage } from '../../domain/usage.ts';
import type { Cost } from './snapshot.ts';

/** One model call of a run as the ledger has it: what was expected of it, and what was billed. */
export interface Call {
  /** Sequence number of its request. */
  readonly seq: number;
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** Within the turn, from 1. */
  readonly iteration: number;
  /** Within the iteration, from 1. */
  readonly attempt: number;
  /** What it is for; absent for the agent's own decision. */
  readonly purpose?: string;
  readonly provider: string;
  readonly model: string;
  readonly role: string;
  /** The model that answered, where it is not the one asked. */
  readonly served?: string;
  readonly at: Instant;
  /** Absent while it goes on. */
  readonly ms?: number;
  readonly stop?: StopKind;
  readonly failure?: Pick<ModelFailure, 'class' | 'message'>;
  readonly usage: Usage;
  /** Absent: unknown, or not over. */
  readonly cost?: Cost;
  /** Input tokens that a cache should have given. Absent for a provider of which nothing is known. */
  readonly expectedRead?: number;
  readonly markers?: readonly string[];
  readonly unmarked?: readonly string[];
  /** Sections of the prompt that differ from the call before. */
  readonly changed: readonly string[];
  /** Why a warm prompt was cold. */
  readonly cold?: FactPayload<'cache.cold'>;
}

export interface CallsPage {
  readonly calls: readonly Call[];
  readonly hasMore: boolean;
}

export interface CallsQuery {
  /** Calls whose request came later; from the first when absent. */
  readonly after?: number | undefined;
  /** 1 to 1000, 200 when absent. */
  readonly limit?: number | undefined;
}
