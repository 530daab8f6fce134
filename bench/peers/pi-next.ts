// @earendil-works/pi-agent-core: pi since it was renamed. An Agent is a conversation; it always streams, so the scripted
// model sends its answer as two events unless somebody reads.
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type AgentMessage, type AgentTool, type StreamFn } from '@earendil-works/pi-agent-core';
import {
  createAssistantMessageEventStream,
  type AssistantMessage,
  type Message,
  type Model,
} from '@earendil-works/pi-ai';
import { anthropicMessagesApi } from '@earendil-works/pi-ai/api/anthropic-messages.lazy';
import { num, obj } from '@earendil-works/pi-schema';
import { exposure, instructions, reply, toolDescription, toolNames, usage, type Reply } from '../script.ts';
import type { Subject, SubjectOptions } from '../subject.ts';

const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export async function create(options: SubjectOptions): Promise<Subject> {
  const { baseUrl } = options;
  const model: Model<'anthropic-messages'> = {
    id: 'scripted',
    name: 'scripted',
    api: 'anthropic-messages',
    provider: 'anthropic',
    baseUrl: baseUrl ?? 'http://127.0.0.1',
    reasoning: false,
    input: ['text'],
    cost: free,
    contextWindow: 1_000_000,
    maxTokens: 4096,
  };
  const parameters = obj({ price: num(), quantity: num() });
  const tools = toolNames(options.tools).map((name): AgentTool<typeof parameters> => ({
    name,
    label: name,
    description: toolDescription,
    parameters,
    async execute(_id, args) {
      options.onTool();
      return { content: [{ type: 'text', text: JSON.stringify(exposure(args)) }], details: undefined };
    },
  }));

  const open = (streamed: boolean) =>
    new Agent({
      initialState: { systemPrompt: instructions, model, tools, messages: [] },
      streamFn: baseUrl === undefined ? scripted(options.latencyMs, streamed) : anthropicMessagesApi().streamSimple,
      getApiKey: () => 'none',
    });
  const conversations = new Map<string, Agent>();
  const agentOf = (conversation: string | undefined, streamed: boolean) => {
    if (conversation === undefined) return open(streamed);
    const agent = conversations.get(conversation) ?? open(streamed);
    conversations.set(conversation, agent);
    return agent;
  };

  return {
    async run({ text, conversation }) {
      const agent = agentOf(conversation, false);
      await agent.prompt(text);
      return lastText(agent.state.messages);
    },
    async stream({ text, conversation }, onDelta) {
      const agent = agentOf(conversation, true);
      agent.subscribe((event) => {
        if (event.type !== 'message_update') return;
        if (event.assistantMessageEvent.type === 'text_delta') onDelta(event.assistantMessageEvent.delta);
      });
      await agent.prompt(text);
      return lastText(agent.state.messages);
    },
    close: () => conversations.clear(),
  };
}

function scripted(latencyMs: number, streamed: boolean): StreamFn {
  return async (_model, { messages }) => {
    if (latencyMs > 0) await sleep(latencyMs);
    const answer = decide(messages);
    const message = assistant(answer);
    const stream = createAssistantMessageEventStream();
    stream.push({ type: 'start', partial: message });
    if (streamed && 'text' in answer) {
      for (const delta of answer.text) stream.push({ type: 'text_delta', contentIndex: 0, delta, partial: message });
    }
    stream.push({ type: 'done', reason: 'calls' in answer ? 'toolUse' : 'stop', message });
    return stream;
  };
}

function decide(messages: readonly Message[]): Reply {
  let at = messages.length - 1;
  const results: number[] = [];
  for (; messages[at]!.role !== 'user'; at--) {
    const message = messages[at]!;
    if (message.role === 'toolResult')
      results.push((JSON.parse(textOf(message.content)) as { exposure: number }).exposure);
  }
  const asked = messages[at] as Extract<Message, { role: 'user' }>;
  return reply(textOf(asked.content), results, () => messages.filter((one) => one.role === 'user').length);
}

function assistant(answer: Reply): AssistantMessage {
  const { input, output } = usage;
  return {
    role: 'assistant',
    content:
      'calls' in answer
        ? answer.calls.map((call) => ({ type: 'toolCall', name: 'calculate_exposure', ...call }))
        : [{ type: 'text', text: answer.text.join('') }],
    api: 'anthropic-messages',
    provider: 'anthropic',
    model: 'scripted',
    usage: { input, output, cacheRead: 0, cacheWrite: 0, totalTokens: input + output, cost: { ...free, total: 0 } },
    stopReason: 'calls' in answer ? 'toolUse' : 'stop',
    timestamp: 0,
  };
}

function textOf(content: string | readonly { type: string; text?: string }[]): string {
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');
}

function lastText(messages: readonly AgentMessage[]): string {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? textOf(last.content) : '';
}
