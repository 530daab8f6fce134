import type { Plugin } from '../kernel/plugin.ts';
import { changedTool } from './gates/changed-tool.ts';
import { contextWindow } from './gates/context-window.ts';
import { endlessLoop } from './gates/endless-loop.ts';
import { toolApproval } from './gates/tool-approval.ts';
import { otelObserver } from './observers/otel.ts';
import { capped } from './memory/capped.ts';
import { compaction } from './memory/compaction.ts';
import { summaryBuffer } from './memory/summary-buffer.ts';
import { toolResults } from './memory/tool-results.ts';
import { staticPlanner } from './planners/static.ts';

/** Every plugin that comes with Treadle, in the order in which they are set up. */
export const shippedPlugins: readonly Plugin[] = [
  endlessLoop,
  toolApproval,
  changedTool,
  contextWindow,
  compaction,
  capped,
  summaryBuffer,
  toolResults,
  staticPlanner,
  otelObserver,
];

/** Active unless a bundle says otherwise: without them an agent has no cap, and `approval: ask` means nothing. */
export const activeByDefault: ReadonlySet<string> = new Set([endlessLoop.id, toolApproval.id, changedTool.id]);
