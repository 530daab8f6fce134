import type { Json } from '../../base/json.ts';
import type { Usage } from '../../domain/usage.ts';

export interface PromptSection {
  readonly name: string;
  /** How long it stays the same: `process`, `bundle`, `selection`, `conversation`, `turn`, `iteration`. */
  readonly lifetime: string;
  readonly digest: string;
  readonly bytes: number;
  /** False for what is sent anew each time. */
  readonly cached: boolean;
  readonly text: string;
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
}

export interface PromptQuery {
  readonly iteration: number;
  /** The newest that has this iteration when absent. */
  readonly turn?: number | undefined;
}
