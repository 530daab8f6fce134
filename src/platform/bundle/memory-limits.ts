import type { Limits } from '../../domain/agent.ts';
import { capped, cappedLimits } from '../../plugins/memory/capped.ts';
import { compaction } from '../../plugins/memory/compaction.ts';
import { summaryBuffer, summaryBufferLimits } from '../../plugins/memory/summary-buffer.ts';
import { toolResults, toolResultsLimits } from '../../plugins/memory/tool-results.ts';
import type { ActivePlugin } from './active-plugins.ts';

/** Plugins that ask a model for summaries, in a role of their own. */
export const SUMMARISING: ReadonlySet<string> = new Set([compaction.id, summaryBuffer.id]);

const BY_CONFIG = new Map([
  [capped.id, cappedLimits],
  [summaryBuffer.id, summaryBufferLimits],
  [toolResults.id, toolResultsLimits],
]);

/** What the active memory plugins make the loop watch: it decides from the log, where an agent's limits are. */
export function memoryLimits(plugins: readonly ActivePlugin[]): Partial<Limits> {
  return Object.assign({}, ...plugins.map(({ id, config }) => BY_CONFIG.get(id)?.(config))) as Partial<Limits>; // of parts of limits
}

/** Whether an active plugin can put something shorter in the place of older turns. */
export function canCompact(plugins: readonly ActivePlugin[]): boolean {
  return plugins.some(({ id }) => id.startsWith('memory.') && id !== toolResults.id);
}
