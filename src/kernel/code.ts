import type { Instant } from '../base/clock.ts';
import type { Json, JsonObject } from '../base/json.ts';

export interface CodeRequest {
  /** The body of an async function. */
  readonly code: string;
  /** Names of the functions under `tools`. */
  readonly tools: readonly string[];
  /** Carries out what is called. Rejects with an error whose message the code may catch. */
  readonly call: (name: string, args: JsonObject) => Promise<Json>;
  /** What the code says on its console. */
  readonly log: (text: string) => void;
  /** The one time that the code sees. */
  readonly now: Instant;
  readonly memoryBytes: number;
  /** Milliseconds of work, without the time that it waits for tools. */
  readonly workMs: number;
  readonly signal: AbortSignal;
}

export type CodeEnd =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly code: 'failed' | 'syntax' | 'memory' | 'timeout' | 'stopped';
      readonly message: string;
    };

/** Runs JavaScript that has nothing of the machine: no files, no network, no clock, no more memory or time than it is given. */
export type CodeRunner = (request: CodeRequest) => Promise<CodeEnd>;
