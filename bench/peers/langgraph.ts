// @langchain/langgraph, createReactAgent. Without a log the caller keeps the messages; with one, its own SQLite saver.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChatAnthropic } from '@langchain/anthropic';
import { BaseChatModel, type BindToolsInput } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import { tool } from '@langchain/core/tools';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { z } from 'zod';
import { exposure, instructions, reply, toolDescription, toolNames, type Reply } from '../script.ts';
import type { Subject, SubjectOptions } from '../subject.ts';

export async function create(options: SubjectOptions): Promise<Subject> {
  const { baseUrl, log } = options;
  const tools = toolNames(options.tools).map((name) =>
    tool(
      (args) => {
        options.onTool();
        return JSON.stringify(exposure(args));
      },
      { name, description: toolDescription, schema: z.object({ price: z.number(), quantity: z.number() }) },
    ),
  );
  const database = log && openDatabase(log);
  const agent = createReactAgent({
    llm:
      baseUrl === undefined
        ? new ScriptedChatModel(options.latencyMs)
        : new ChatAnthropic({
            model: 'scripted',
            apiKey: 'none',
            anthropicApiUrl: baseUrl,
            maxRetries: 0,
            streaming: true,
          }),
    tools,
    prompt: instructions,
    ...(database && { checkpointer: new SqliteSaver(database as ConstructorParameters<typeof SqliteSaver>[0]) }),
  });
  const conversations = new Map<string, BaseMessage[]>();
  let unnamed = 0;
  const config = (conversation: string | undefined) => ({
    recursionLimit: 1000,
    ...(log && { configurable: { thread_id: conversation ?? `unnamed-${++unnamed}` } }),
  });
  const before = (conversation: string | undefined, text: string) => {
    const kept = log === undefined && conversation !== undefined ? conversations.get(conversation) : undefined;
    return [...(kept ?? []), new HumanMessage(text)];
  };

  return {
    async run({ text, conversation }) {
      const { messages } = await agent.invoke({ messages: before(conversation, text) }, config(conversation));
      if (conversation !== undefined && log === undefined) conversations.set(conversation, messages);
      return messages.at(-1)?.text ?? '';
    },
    async stream({ text, conversation }, onDelta) {
      const input = { messages: before(conversation, text) };
      let said = '';
      for await (const [chunk] of await agent.stream(input, { ...config(conversation), streamMode: 'messages' })) {
        if (chunk.type !== 'ai' || chunk.text === '') continue;
        said += chunk.text;
        onDelta(chunk.text);
      }
      return said;
    },
    close: () => database?.close(),
  };
}

class ScriptedChatModel extends BaseChatModel {
  readonly latencyMs: number;

  constructor(latencyMs: number) {
    super({});
    this.latencyMs = latencyMs;
  }

  _llmType(): string {
    return 'scripted';
  }

  /** Converts the tools as the package's own providers do. */
  override bindTools(tools: BindToolsInput[]) {
    return this.withConfig({ tools: tools.map((one) => convertToOpenAITool(one as never)) } as object);
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    if (this.latencyMs > 0) await sleep(this.latencyMs);
    const answer = decide(messages);
    const text = 'text' in answer ? answer.text.join('') : '';
    const message = new AIMessage({ id: nextId(), content: text, tool_calls: toolCalls(answer) });
    return { generations: [{ message, text }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: unknown,
    manager?: Parameters<BaseChatModel['_streamResponseChunks']>[2],
  ): AsyncGenerator<ChatGenerationChunk> {
    if (this.latencyMs > 0) await sleep(this.latencyMs);
    const answer = decide(messages);
    const id = nextId();
    const pieces = 'text' in answer ? answer.text : [''];
    for (const text of pieces) {
      const message = new AIMessageChunk({ id, content: text, tool_calls: toolCalls(answer) });
      const chunk = new ChatGenerationChunk({ message, text });
      yield chunk;
      await manager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

let ids = 0;
/** The message reducer replaces a message whose id comes again. */
const nextId = () => `scripted-${++ids}`;

function toolCalls(answer: Reply) {
  if ('text' in answer) return [];
  return answer.calls.map((call) => ({
    type: 'tool_call' as const,
    id: call.id,
    name: 'calculate_exposure',
    args: call.arguments,
  }));
}

function decide(messages: readonly BaseMessage[]): Reply {
  let at = messages.length - 1;
  const results: number[] = [];
  for (; messages[at]!.type !== 'human'; at--) {
    const message = messages[at]!;
    if (ToolMessage.isInstance(message)) results.push((JSON.parse(message.text) as { exposure: number }).exposure);
  }
  return reply(messages[at]!.text, results, () => messages.filter((one) => one.type === 'human').length);
}

/**
 * The part of better-sqlite3 that the saver uses, on node:sqlite: the same engine as everybody else here, and nothing to
 * compile.
 */
function openDatabase({ file, sync }: { file: string; sync: string }) {
  const database = new DatabaseSync(file);
  database.exec(`pragma synchronous = ${sync}`);
  return {
    pragma: (text: string) => database.exec(`pragma ${text}`),
    exec: (text: string) => database.exec(text),
    prepare(text: string) {
      const statement = database.prepare(text);
      const known = (values: readonly unknown[]) => values.map((value) => value ?? null) as SQLInputValue[];
      return {
        run: (...values: unknown[]) => statement.run(...known(values)),
        get: (...values: unknown[]) => statement.get(...known(values)),
        all: (...values: unknown[]) => statement.all(...known(values)),
      };
    },
    transaction<A extends unknown[]>(body: (...values: A) => void) {
      return (...values: A) => {
        database.exec('begin');
        body(...values);
        database.exec('commit');
      };
    },
    close: () => database.close(),
  };
}
