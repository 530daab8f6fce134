import type { facts, FactType, PassingType } from './event.ts';

/**
 * Every fact with its present version, without the schemas: whoever needs no more does not load them. The compiler keeps
 * the two in step.
 */
export const FACT_VERSIONS: { readonly [T in FactType]: (typeof facts)[T]['v'] } = {
  'io.input': 1,
  'agent.turn.start': 1,
  'agent.turn.end': 1,
  'plan.request': 1,
  'plan.result': 1,
  'llm.request': 1,
  'thinking.step': 1,
  'llm.response': 1,
  'tool.invoke': 1,
  'tool.result': 1,
  'hitl.requested': 1,
  'hitl.responded': 1,
  'allowance.revoked': 1,
  'hitl.cancel': 1,
  'tool.register': 1,
  'tool.loaded': 1,
  'tool.changed': 1,
  'skill.loaded': 1,
  'source.event': 1,
  'source.pulled': 1,
  'memory.compact.request': 1,
  'memory.compacted': 1,
  'memory.cleared': 1,
  'agent.tool_choice': 1,
  'gate.llm.retry': 1,
  'cancel.request': 1,
  'cancel.active': 1,
  'cancel.complete': 1,
  'cancel.resume': 1,
  'io.output': 1,
  'gate.verdict': 1,
  'selection.applied': 1,
  'selection.ignored': 1,
  'cache.cold': 1,
  'account.inactive': 1,
  'account.reactivated': 1,
  'memory.recalled': 1,
  'computation.started': 1,
  'computation.ended': 1,
  'subagent.started': 1,
  'subagent.ended': 1,
  'ceiling.set': 1,
  'limits.changed': 1,
};

const passing: Readonly<Record<PassingType, true>> = {
  'llm.stream.chunk': true,
  'llm.stream.end': true,
  'tool.progress': true,
  'io.status': true,
};

export const EVENT_TYPES: ReadonlySet<string> = new Set([...Object.keys(FACT_VERSIONS), ...Object.keys(passing)]);
