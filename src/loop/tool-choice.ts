import type { EffectiveAgent, ToolChoice } from '../domain/agent.ts';
import { shownTools } from '../assembly/render.ts';
import type { Turn } from '../domain/conversation.ts';

export interface Chosen {
  readonly choice: ToolChoice;
  /** Which rule chose. `fallback`: the named tool is not in the effective set or not in the prompt, so the model is free. */
  readonly rule: 'override' | 'sequence' | 'static' | 'fallback';
}

/** Whether the next call must use a tool: override over sequence over static over nothing. */
export function chooseTool(turn: Turn): Chosen | undefined {
  const chosen = rule(turn);
  if (chosen === undefined || chosen.choice.mode !== 'tool') return chosen;
  const { name } = chosen.choice;
  return shownTools(turn.agent).some((tool) => tool.name === name)
    ? chosen
    : { choice: { mode: 'auto' }, rule: 'fallback' };
}

function rule({ agent, override, calls }: Turn): Chosen | undefined {
  if (override !== undefined) return { choice: overridden(override.mode, override.toolName), rule: 'override' };
  return declared(agent.toolChoice, calls);
}

function overridden(mode: ToolChoice['mode'] | 'any', name: string | undefined): ToolChoice {
  if (mode === 'any') return { mode: 'required' };
  return name === undefined ? { mode } : { mode, name };
}

/** The bundle's choice for the model call after `calls` others: the last entry of a sequence repeats. */
function declared(choice: EffectiveAgent['toolChoice'], calls: number): Chosen | undefined {
  if (choice === undefined) return undefined;
  if (!Array.isArray(choice)) return { choice: choice, rule: 'static' }; // not the sequence
  const entry = choice[Math.min(calls, choice.length - 1)];
  return entry === undefined ? undefined : { choice: entry, rule: 'sequence' };
}
