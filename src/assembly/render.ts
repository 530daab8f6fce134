import { shortDigest } from '../base/digest.ts';
import { canonicalJson, type Json, type JsonObject } from '../base/json.ts';
import type { EffectiveAgent, ModelRef, ToolChoice } from '../domain/agent.ts';
import type { Conversation, Turn } from '../domain/conversation.ts';
import type { Message, ModelRequest } from '../domain/model.ts';
import type { ToolDefinition } from '../domain/tool.ts';
import { observationParts } from './observation.ts';
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
  return {
    model,
    instructions: withPlan(turn),
    // The json grammar describes its tools in the instructions; the provider is told of none.
    tools: agent.grammar === 'json' ? NO_TOOLS : agent.tools,
    messages: transcript(conversation, model),
    announce,
    toolChoice: agent.grammar === 'json' || agent.tools.length === 0 ? undefined : toolChoice,
  };
}

/** The instructions, with this turn's plan where the bundle chose to pay for it in cache. */
function withPlan(turn: Turn): string {
  const { agent, plan } = turn;
  if (agent.planning?.placement !== 'system' || typeof plan === 'string') return agent.instructions;
  return `${agent.instructions}\n\n[PLAN]\n${plan.steps.map((step, index) => `${index + 1}. ${step.title}`).join('\n')}`;
}

/** Digests of sections by the very value they were made of: instructions and catalogues change rarely, and are long. */
const catalogues = new WeakMap<readonly ToolDefinition[], string>();
const texts = new WeakMap<EffectiveAgent, { readonly text: string; readonly digest: string }>();

/** Digests of the cached sections that differ from what this conversation last sent; undefined when none does. */
export function changedSections(
  conversation: Conversation,
  request: ModelRequest,
  agent: EffectiveAgent,
): Record<string, string> | undefined {
  const { sections } = conversation;
  const instructions = textDigest(request.instructions, agent);
  const tools = catalogueDigest(request.tools);
  if (sections['instructions'] === instructions && sections['tools'] === tools) return undefined;
  const changed: Record<string, string> = {};
  if (sections['instructions'] !== instructions) changed['instructions'] = instructions;
  if (sections['tools'] !== tools) changed['tools'] = tools;
  return changed;
}

function textDigest(text: string, agent: EffectiveAgent): string {
  const known = texts.get(agent);
  if (known?.text === text) return known.digest;
  const digest = shortDigest(text);
  texts.set(agent, { text, digest });
  return digest;
}

function catalogueDigest(tools: readonly ToolDefinition[]): string {
  let digest = catalogues.get(tools);
  if (digest === undefined) catalogues.set(tools, (digest = shortDigest(catalogueText(tools))));
  return digest;
}

/** The tool catalogue as the bytes that count for the cache: ordered by name, schemas as canonical JSON. */
export function catalogueText(tools: readonly ToolDefinition[]): string {
  const shown: JsonObject[] = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return shown.map((tool) => canonicalJson(tool)).join('\n');
}

/** A request as sections of plain text, for people: golden files, the inspector, `treadle show`. */
export function promptSections(request: ModelRequest, conversation: Conversation): Sections {
  const earlier = conversation.turn === undefined ? request.messages.length : pastLength(conversation, request);
  return [
    { name: 'protocol', lifetime: 'process', text: '' },
    { name: 'instructions', lifetime: 'bundle', text: request.instructions },
    { name: 'tools', lifetime: 'selection', text: catalogueText(request.tools) },
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

/** One message as one or more lines. */
export function messageText(message: Message): string {
  switch (message.role) {
    case 'user':
      return `user${message.synthetic === true ? ' (synthetic)' : ''}: ${message.content.map((part) => canonicalPart(part)).join(' ')}`;
    case 'assistant':
      return message.content
        .map((block) => `assistant: ${block.type === 'text' ? block.text : canonicalJson(block as unknown as Json)}`)
        .join('\n'); // blocks are JSON by construction
    case 'tool':
      return message.results
        .map(
          ({ id, name, observation, note }) =>
            `tool ${name} ${id}: ${observationParts(observation, note)
              .map((part) => canonicalPart(part))
              .join(' ')}`,
        )
        .join('\n');
  }
}

function canonicalPart(part: { readonly type: string; readonly text?: string | undefined }): string {
  return part.type === 'text' ? (part.text ?? '') : canonicalJson(part as Json); // parts are JSON by construction
}
