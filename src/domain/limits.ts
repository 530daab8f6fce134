import type { Limits } from './agent.ts';

/** What a bundle gets that says nothing. */
export const defaultLimits: Limits = {
  maxIterations: 25,
  maxActions: 10,
  maxConcurrent: 4,
  maxFaults: 3,
  maxAttempts: 4,
  maxPauses: 5,
  maxRepeats: 3,
  toolTimeoutMs: 30_000,
  modelIdleMs: 60_000,
  maxResultBytes: 16_384,
};

/** Child runs at work at the same time, for an agent that may delegate and says nothing of how many. */
export const defaultSubagents = 4;

/** What a gate says where a prompt does not fit into the model's window: older turns are compacted once, and it is asked again. */
export const WINDOW_CODE = 'context_window';
