import type { Json, JsonObject } from '../../base/json.ts';
import type { CodeEnd } from '../../kernel/code.ts';

/** What the thread that runs code is given when it begins. */
export interface CodeTask {
  readonly code: string;
  readonly tools: readonly string[];
  readonly now: number;
  readonly memoryBytes: number;
  readonly workMs: number;
}

/** What it says. */
export type FromCode =
  | { readonly type: 'call'; readonly id: number; readonly name: string; readonly args: JsonObject }
  | { readonly type: 'log'; readonly text: string }
  /** It waits, and had been given so many answers by then. */
  | { readonly type: 'idle'; readonly answers: number }
  | { readonly type: 'end'; readonly end: CodeEnd };

/** What it is told. */
export type ToCode =
  | { readonly id: number; readonly ok: true; readonly value: Json }
  | { readonly id: number; readonly ok: false; readonly message: string };
