import type { EffectiveAgent, ModelRef, ToolChoice } from '../domain/agent.ts';
import type { Conversation, Turn } from '../domain/conversation.ts';
import { promptTools } from '../domain/deferred.ts';
import type { ModelRequest } from '../domain/model.ts';
import type { ToolDefinition } from '../domain/tool.ts';
import { catalogueText, messageText } from './message-text.ts';
import { joined } from './instructions.ts';
import type { Sections } from './section.ts';
import { transcript } from './transcript.ts';

const NO_TOOLS: readonly ToolDefinition[] = [];

export interface RenderOptions {
  readonly model: ModelRef;
  readonly announce: string | undefined;
  readonly toolChoice: ToolChoice | undefined;
}

/** Lay out one model call: instructions, tools, timeline, and last, uncached, announce. */
export function render(
  conversation: Conversation,
  turn: Turn,
  { model, announce, toolChoice }: RenderOptions,
): ModelRequest {
  const { agent } = turn;
  const gallery = withPlan(turn);
  return {
    model,
    instructions: agent.instructions,
    ...(gallery === undefined ? {} : { gallery }),
    tools: agent.grammar === 'json' ? NO_TOOLS : shownTools(agent),
    messages: transcript(conversation, model),
    announce,
    toolChoice: agent.grammar === 'json' || agent.tools.length === 0 ? undefined : toolChoice,
    ...(agent.listed === undefined || agent.grammar === 'json' ? {} : { allowed: allowedOf(agent) }),
  };
}

/**
 * The tools that the provider is told of; the json grammar describes them in the instructions. Deferred ones only where the
 * provider searches: what our own search finds is joined to the transcript, so that nothing before it changes.
 */
export function shownTools({ listed, tools, deferral }: EffectiveAgent): readonly ToolDefinition[] {
  const shown = listed ?? tools;
  return deferral === 'provider' ? shown : promptTools(shown);
}

const names = new WeakMap<EffectiveAgent, readonly string[]>();

/** The names that may be called, of more that are listed. */
export function allowedOf(agent: EffectiveAgent): readonly string[] {
  let allowed = names.get(agent);
  if (allowed === undefined) names.set(agent, (allowed = agent.tools.map(({ name }) => name)));
  return allowed;
}

/** The lists of the agent, with this turn's plan where the bundle chose to pay for it in cache. */
function withPlan({ agent, plan }: Turn): string | undefined {
  const { gallery, planning } = agent;
  if (planning?.placement !== 'system' || typeof plan === 'string') return gallery;
  const steps = plan.steps.map((step, index) => `${index + 1}. ${step.title}`);
  return joined([gallery ?? '', ['[PLAN]', ...steps].join('\n')]);
}

/** A request as sections of plain text, for people: golden files, the inspector, `treadle show`. */
export function promptSections(request: ModelRequest, conversation: Conversation): Sections {
  const earlier = conversation.turn === undefined ? request.messages.length : pastLength(conversation, request);
  return [
    { name: 'protocol', lifetime: 'process', text: '' },
    { name: 'instructions', lifetime: 'bundle', text: request.instructions },
    { name: 'tools', lifetime: 'selection', text: catalogueText(request.tools) },
    { name: 'gallery', lifetime: 'selection', text: request.gallery ?? '' },
    {
      name: 'past turns',
      lifetime: 'conversation',
      text: request.messages.slice(0, earlier).map(messageText).join('\n'),
    },
    { name: 'this turn', lifetime: 'turn', text: request.messages.slice(earlier).map(messageText).join('\n') },
    { name: 'announce', lifetime: 'iteration', text: request.announce ?? '' },
  ];
}

function pastLength(conversation: Conversation, request: ModelRequest): number {
  return transcript({ ...conversation, turn: undefined }, request.model).length;
}
