import type { Json } from '../../base/json.ts';
import type { FactPayload } from '../../domain/event.ts';
import type { Usage } from '../../domain/usage.ts';

export interface PromptSection {
  readonly name: string;
  /** How long it stays the same: `process`, `bundle`, `selection`, `conversation`, `turn`, `iteration`. */
  readonly lifetime: string;
  readonly digest: string;
  readonly bytes: number;
  /** False for what is sent anew each time. */
  readonly cached: boolean;
  /** Whether it was read from a cache, by what was billed; absent when the provider did not say. */
  readonly read?: 'yes' | 'partly' | 'no';
  readonly text: string;
}

/** What was expected of the provider's cache, and what came of it. */
export interface PromptCache {
  /** Input tokens that it should have given; absent for a provider of which nothing is known. */
  readonly expectedRead?: number;
  readonly markers?: readonly string[];
  /** Places that got no marker, and why. */
  readonly unmarked?: readonly string[];
  /** Why a warm prompt was cold. */
  readonly cold?: FactPayload<'cache.cold'>;
}

/** What the model saw in one iteration, rendered again from the log. */
export interface Prompt {
  readonly run: string;
  readonly turn: number;
  /** Within the turn, from 1. */
  readonly iteration: number;
  /** The attempt that counts: the last one. */
  readonly attempt: number;
  readonly model: { readonly provider: string; readonly model: string };
  readonly role: string;
  readonly purpose?: string;
  readonly sections: readonly PromptSection[];
  /** As the model adapter was handed them. */
  readonly messages: Json;
  readonly toolChoice?: Json;
  /** The tools that could be called, where a gate took some away. */
  readonly allowed?: readonly string[];
  readonly usage?: Usage;
  readonly stop?: string;
  readonly cache: PromptCache;
}

export interface PromptQuery {
  readonly iteration: number;
  /** The newest that has this iteration when absent. */
  readonly turn?: number | undefined;
}
