import type { EffectiveAgent } from './agent.ts';
import type { ToolDefinition } from './tool.ts';

/** The group of the tools that find deferred ones: there with the first of these, and locked like every system group. */
export const TOOLBOX_GROUP = 'toolbox';
export const TOOL_SEARCH = 'tool_search';
/** Calls a tool that the provider was not told of: what the model asks for is the tool that it names. */
export const TOOL_USE = 'tool_use';

/** Whether a call of `tool_use` stands for the call of the tool that it names. */
export function unwraps({ deferral, grammar }: Pick<EffectiveAgent, 'deferral' | 'grammar'>): boolean {
  return deferral === 'own' && grammar === 'native';
}

/** The tools that stand in the prompt. The same list for the same list. */
export function promptTools(tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
  let known = prompted.get(tools);
  if (known === undefined) {
    known = tools.some(({ deferred }) => deferred) ? tools.filter(({ deferred }) => deferred !== true) : tools;
    prompted.set(tools, known);
  }
  return known;
}

const prompted = new WeakMap<readonly ToolDefinition[], readonly ToolDefinition[]>();
