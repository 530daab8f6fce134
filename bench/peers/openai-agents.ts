// @openai/agents, run(agent, input). Tracing is off; the caller keeps the items.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Agent,
  run,
  setTracingDisabled,
  tool,
  Usage,
  type AgentInputItem,
  type protocol,
  type Model,
} from '@openai/agents';
import { z } from 'zod';
import { exposure, instructions, reply, toolDescription, toolNames, usage, type Reply } from '../script.ts';
import type { Subject, SubjectOptions } from '../subject.ts';

export async function create(options: SubjectOptions): Promise<Subject> {
  setTracingDisabled(true);
  const agent = new Agent({
    name: 'exposures',
    instructions,
    model: scripted(options.latencyMs),
    tools: toolNames(options.tools).map((name) =>
      tool({
        name,
        description: toolDescription,
        parameters: z.object({ price: z.number(), quantity: z.number() }),
        execute(args) {
          options.onTool();
          return exposure(args);
        },
      }),
    ),
  });
  const conversations = new Map<string, AgentInputItem[]>();
  const before = (conversation: string | undefined, text: string): AgentInputItem[] => [
    ...((conversation !== undefined && conversations.get(conversation)) || []),
    { role: 'user', content: text },
  ];

  return {
    async run({ text, conversation }) {
      const result = await run(agent, before(conversation, text), { maxTurns: 1000 });
      if (conversation !== undefined) conversations.set(conversation, result.history);
      return result.finalOutput ?? '';
    },
    async stream({ text, conversation }, onDelta) {
      const result = await run(agent, before(conversation, text), { maxTurns: 1000, stream: true });
      for await (const event of result) {
        if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta')
          onDelta(event.data.delta);
      }
      await result.completed;
      return result.finalOutput ?? '';
    },
    close: () => conversations.clear(),
  };
}

function scripted(latencyMs: number): Model {
  return {
    async getResponse({ input }) {
      if (latencyMs > 0) await sleep(latencyMs);
      return { usage: new Usage(counted), output: output(decide(input)) };
    },
    async *getStreamedResponse({ input }) {
      if (latencyMs > 0) await sleep(latencyMs);
      const answer = decide(input);
      if ('text' in answer) for (const delta of answer.text) yield { type: 'output_text_delta', delta };
      yield { type: 'response_done', response: { id: 'scripted', usage: counted, output: output(answer) } };
    },
  };
}

const counted = {
  inputTokens: usage.input,
  outputTokens: usage.output,
  totalTokens: usage.input + usage.output,
};

function output(answer: Reply): protocol.StreamEventResponseCompleted['response']['output'] {
  if ('text' in answer) {
    const content = [{ type: 'output_text' as const, text: answer.text.join('') }];
    return [{ type: 'message', role: 'assistant', status: 'completed', content }];
  }
  return answer.calls.map((call) => ({
    type: 'function_call',
    callId: call.id,
    name: 'calculate_exposure',
    status: 'completed',
    arguments: JSON.stringify(call.arguments),
  }));
}

function decide(input: string | readonly AgentInputItem[]): Reply {
  const items = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input;
  let at = items.length - 1;
  const results: number[] = [];
  for (; !isUser(items[at]!); at--) {
    const item = items[at]!;
    if (item.type !== 'function_call_result') continue;
    const { output: said } = item;
    const text = typeof said === 'object' && 'text' in said ? said.text : said;
    results.push((JSON.parse(String(text)) as { exposure: number }).exposure);
  }
  const { content } = items[at] as { content: unknown };
  return reply(String(content), results, () => items.filter(isUser).length);
}

const isUser = (item: AgentInputItem) => 'role' in item && item.role === 'user';
