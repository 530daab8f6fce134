import { allowedOf, shownTools } from '../assembly/render.ts';
import { repair } from '../assembly/repair.ts';
import { TOOL_USE } from '../domain/deferred.ts';
import type { Turn } from '../domain/conversation.ts';
import type { ModelRequest } from '../domain/model.ts';
import type { Questions } from '../kernel/verdict.ts';

type Question = Questions['before:llm.request'];

/** A gate has touched the messages: what goes out must still be valid. */
export function repaired(question: Question): Question {
  return { ...question, request: { ...question.request, messages: repair(question.request.messages) } };
}

/** Notes of gates go where what changes goes: into announce, after everything that is cached. */
export function withNotes({ request, notes }: Question): ModelRequest {
  if (notes.length === 0) return request;
  const block = `[NOTES]\n${notes.map((note) => `- ${note}`).join('\n')}`;
  return { ...request, announce: request.announce === undefined ? block : `${request.announce}\n\n${block}` };
}

/** The tools that this request may call, where a gate took some away: the set that is shown is the set that may run. */
export function mask({ tools, allowed }: ModelRequest, { agent }: Turn): string[] | undefined {
  if (agent.grammar === 'json') {
    if (allowed === undefined) return undefined;
  } else if (tools === shownTools(agent) && (allowed === undefined || allowed === allowedOf(agent))) {
    return undefined;
  }
  const shown = agent.grammar === 'json' ? agent.tools : [...tools, ...found(tools, agent)];
  return shown.map((tool) => tool.name).filter((name) => allowed?.includes(name) ?? true);
}

/** Deferred tools are called by way of one that is shown: where a gate took that away, they are gone too. */
function found(tools: ModelRequest['tools'], agent: Turn['agent']): ModelRequest['tools'] {
  if (agent.deferral !== 'own' || !tools.some(({ name }) => name === TOOL_USE)) return [];
  return agent.tools.filter(({ deferred }) => deferred === true);
}

/** A gate may narrow a request and never widen it. */
export function widening({ request }: Question, asked: ModelRequest): string | undefined {
  const granted = new Set(asked.tools.map((tool) => tool.name));
  const callable = asked.allowed === undefined ? granted : new Set(asked.allowed);
  const added =
    request.tools.find((tool) => !granted.has(tool.name))?.name ?? request.allowed?.find((name) => !callable.has(name));
  return added === undefined ? undefined : `it adds the tool ${added}, which this turn does not have`;
}
