import type { Plugin } from '../kernel/plugin.ts';
import { approvalPolicy } from './gates/approval-policy.ts';
import { changedTool } from './gates/changed-tool.ts';
import { contextWindow } from './gates/context-window.ts';
import { endlessLoop } from './gates/endless-loop.ts';
import { outputLength } from './gates/output-length.ts';
import { promptInjection } from './gates/prompt-injection.ts';
import { rateLimiter } from './gates/rate-limiter.ts';
import { stopWords } from './gates/stop-words.ts';
import { tokenBudget } from './gates/token-budget.ts';
import { toolApproval } from './gates/tool-approval.ts';
import { toolFilter } from './gates/tool-filter.ts';
import { toolTimeout } from './gates/tool-timeout.ts';
import { otelObserver } from './observers/otel.ts';
import { capped } from './memory/capped.ts';
import { compaction } from './memory/compaction.ts';
import { summaryBuffer } from './memory/summary-buffer.ts';
import { toolResults } from './memory/tool-results.ts';
import { dynamicPlanner } from './planners/dynamic.ts';
import { staticPlanner } from './planners/static.ts';

/** Plugins that need nothing from outside, in the order in which they are set up. */
export const shippedPlugins: readonly Plugin[] = [
  endlessLoop,
  toolApproval,
  changedTool,
  contextWindow,
  approvalPolicy,
  toolFilter,
  toolTimeout,
  promptInjection,
  stopWords,
  outputLength,
  rateLimiter,
  tokenBudget,
  compaction,
  capped,
  summaryBuffer,
  toolResults,
  staticPlanner,
  dynamicPlanner,
  otelObserver,
];

/** Active unless a bundle says otherwise: without them an agent has no cap, and `approval: ask` means nothing. */
export const activeByDefault: ReadonlySet<string> = new Set([endlessLoop.id, toolApproval.id, changedTool.id]);
