import type { Instant } from '../base/clock.ts';
import type { Json, JsonObject } from '../base/json.ts';

/** In place of an answer: there is none for as long as the code could be kept. */
export const PARKED = Symbol('parked');

export interface CodeRequest {
  /** The body of an async function. */
  readonly code: string;
  /** Names of the functions under `tools`. */
  readonly tools: readonly string[];
  /** Carries out what is called. Rejects with an error whose message the code may catch. Parked: it is not answered in this run. */
  readonly call: (name: string, args: JsonObject) => Promise<Json | typeof PARKED>;
  /** The code has been given every answer that there is, and waits for others. */
  readonly onIdle: () => void;
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
      readonly code: 'failed' | 'syntax' | 'memory' | 'timeout' | 'stopped' | 'parked';
      readonly message: string;
    };

/**
 * `parked`: it waits for nothing but calls that are not answered in this run. The same code that is given the same time and
 * the same answers in the same order makes the same calls.
 *
 * Runs JavaScript that has nothing of the machine: no files, no network, no clock, no more memory or time than it is given.
 */
export type CodeRunner = (request: CodeRequest) => Promise<CodeEnd>;
