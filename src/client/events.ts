import type { RunEntry, RunRequest, Snapshot, StreamFrame } from './types.ts';

/** What a run hands to whoever iterates over it. */
export type RunEvent =
  /** An entry that is new, or that `replaces` what was handed out under the same id. */
  | { readonly type: 'entry'; readonly entry: RunEntry; readonly replaces: boolean }
  /** The run waits for a decision: the caller's, or that of anybody who may. Handed out once for each request. */
  | { readonly type: 'request'; readonly request: RunRequest }
  | { readonly type: 'status'; readonly status: Snapshot['status'] }
  /** Pieces of entries that are being made, and how many were let go for a reader that was too slow. Where asked for. */
  | Extract<StreamFrame, { readonly type: 'delta' | 'activity' | 'gap' }>;
