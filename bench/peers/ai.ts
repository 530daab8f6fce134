// ai, ToolLoopAgent. The caller keeps the messages.
import { setTimeout as sleep } from 'node:timers/promises';
import { createAnthropic } from '@ai-sdk/anthropic';
import { isStepCount, tool, ToolLoopAgent, type LanguageModel, type ModelMessage } from 'ai';
import { z } from 'zod';
import { exposure, instructions, reply, toolDescription, toolNames, usage, type Reply } from '../script.ts';
import type { Subject, SubjectOptions } from '../subject.ts';

type ScriptedModel = Extract<LanguageModel, { specificationVersion: 'v4' }>;
type CallOptions = Parameters<ScriptedModel['doGenerate']>[0];
type StreamPart = Awaited<ReturnType<ScriptedModel['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

export async function create(options: SubjectOptions): Promise<Subject> {
  const tools = Object.fromEntries(
    toolNames(options.tools).map((name) => [
      name,
      tool({
        description: toolDescription,
        inputSchema: z.object({ price: z.number(), quantity: z.number() }),
        execute: (args) => {
          options.onTool();
          return exposure(args);
        },
      }),
    ]),
  );
  const agent = new ToolLoopAgent({
    model:
      options.baseUrl === undefined
        ? scripted(options.latencyMs)
        : createAnthropic({ baseURL: `${options.baseUrl}/v1`, apiKey: 'none' })('scripted'),
    instructions,
    tools,
    stopWhen: isStepCount(1000),
    maxOutputTokens: 4096,
    maxRetries: 0,
  });
  const conversations = new Map<string, ModelMessage[]>();
  const before = (conversation: string | undefined, text: string): ModelMessage[] => [
    ...((conversation !== undefined && conversations.get(conversation)) || []),
    { role: 'user', content: text },
  ];
  const keep = (conversation: string | undefined, messages: ModelMessage[], said: readonly ModelMessage[]) => {
    if (conversation !== undefined) conversations.set(conversation, [...messages, ...said]);
  };
  const stream: Subject['stream'] = async ({ text, conversation }, onDelta) => {
    const messages = before(conversation, text);
    const result = await agent.stream({ messages });
    let said = '';
    for await (const delta of result.textStream) {
      said += delta;
      onDelta(delta);
    }
    keep(conversation, messages, await result.responseMessages);
    return said;
  };

  return {
    async run({ text, conversation }) {
      // The server only streams.
      if (options.baseUrl !== undefined)
        return stream({ text, ...(conversation && { conversation }) }, () => undefined);
      const messages = before(conversation, text);
      const result = await agent.generate({ messages });
      keep(conversation, messages, result.responseMessages);
      return result.text;
    },
    stream,
    close: () => conversations.clear(),
  };
}

const counted = {
  inputTokens: { total: usage.input, noCache: usage.input, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: usage.output, text: usage.output, reasoning: 0 },
};

function scripted(latencyMs: number): ScriptedModel {
  return {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate({ prompt }) {
      if (latencyMs > 0) await sleep(latencyMs);
      const answer = decide(prompt);
      return {
        content: 'calls' in answer ? toolCalls(answer) : [{ type: 'text', text: answer.text.join('') }],
        finishReason: finishReason(answer),
        usage: counted,
        warnings: [],
      };
    },
    async doStream({ prompt }) {
      if (latencyMs > 0) await sleep(latencyMs);
      const answer = decide(prompt);
      return {
        stream: new ReadableStream<StreamPart>({
          start(controller) {
            controller.enqueue({ type: 'stream-start', warnings: [] });
            if ('calls' in answer) for (const call of toolCalls(answer)) controller.enqueue(call);
            else {
              controller.enqueue({ type: 'text-start', id: '0' });
              for (const delta of answer.text) controller.enqueue({ type: 'text-delta', id: '0', delta });
              controller.enqueue({ type: 'text-end', id: '0' });
            }
            controller.enqueue({ type: 'finish', finishReason: finishReason(answer), usage: counted });
            controller.close();
          },
        }),
      };
    },
  };
}

function toolCalls({ calls }: Extract<Reply, { calls: unknown }>) {
  return calls.map((call) => ({
    type: 'tool-call' as const,
    toolCallId: call.id,
    toolName: 'calculate_exposure',
    input: JSON.stringify(call.arguments),
  }));
}

function finishReason(answer: Reply) {
  return { unified: 'calls' in answer ? ('tool-calls' as const) : ('stop' as const), raw: undefined };
}

function decide(prompt: CallOptions['prompt']): Reply {
  let at = prompt.length - 1;
  const results: number[] = [];
  for (; prompt[at]!.role !== 'user'; at--) {
    const message = prompt[at]!;
    if (message.role !== 'tool') continue;
    for (const part of message.content) {
      if (part.type !== 'tool-result' || part.output.type !== 'json') continue;
      results.push((part.output.value as { exposure: number }).exposure);
    }
  }
  const [part] = (prompt[at] as Extract<CallOptions['prompt'][number], { role: 'user' }>).content;
  const text = part?.type === 'text' ? part.text : '';
  return reply(text, results, () => prompt.filter((one) => one.role === 'user').length);
}
