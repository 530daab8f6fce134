// Treadle with what is on by default: gates, validation by JSON Schema, the repeat guard, a lease, and every fact in a log.
import { setTimeout as sleep } from 'node:timers/promises';
import { digest } from '../src/base/digest.ts';
import { randomIds } from '../src/base/ids.ts';
import type { Json } from '../src/base/json.ts';
import { compileSchema } from '../src/adapters/schema/ajv.ts';
import { defaultLimits, type EffectiveAgent } from '../src/domain/agent.ts';
import type { Message, ModelPart, ModelRequest } from '../src/domain/model.ts';
import { createMemoryLog } from '../src/adapters/stores/memory.ts';
import { openSqliteLog } from '../src/adapters/stores/sqlite.ts';
import { systemClock } from '../src/base/clock.ts';
import { createBus } from '../src/kernel/bus.ts';
import { install } from '../src/kernel/plugin.ts';
import type { Log, Logger, ModelSource, ModelStream, Tool } from '../src/kernel/ports.ts';
import type { LoopPorts } from '../src/loop/work.ts';
import { createConversations, type Conversations } from '../src/platform/conversations.ts';
import { createWorker } from '../src/platform/worker.ts';
import { activeByDefault, shippedPlugins } from '../src/plugins/shipped.ts';
import { exposure, instructions, reply, toolDescription, toolNames, usage, type Reply } from './script.ts';
import type { Subject, SubjectOptions } from './subject.ts';

interface House {
  readonly conversations: Conversations;
  readonly bus: LoopPorts['bus'];
  close(): Promise<void>;
}

export async function create(options: SubjectOptions): Promise<Subject> {
  if (options.baseUrl !== undefined) throw new Error('there is no provider adapter yet');
  const { log } = options;
  const openLog = async (): Promise<Log> =>
    log === undefined
      ? createMemoryLog({ clock: systemClock })
      : openSqliteLog({ file: log.file, clock: systemClock, synchronous: log.sync });
  const agent = agentOf(options);
  let house = open(await openLog(), agent, scripted(options.latencyMs));
  let names = new Map<string, string>();
  const readers = new Map<string, (text: string) => void>();
  let isHeard = false;

  async function run(text: string, conversation?: string, onDelta?: (text: string) => void): Promise<string> {
    const { conversations } = house;
    const known = conversation === undefined ? undefined : names.get(conversation);
    const id = known ?? (await conversations.start()).id;
    if (conversation !== undefined) names.set(conversation, id);
    if (onDelta !== undefined) readers.set(id, onDelta);
    await conversations.say(id, { text });
    const { turns } = await conversations.drive(id);
    if (onDelta !== undefined) readers.delete(id);
    const turn = turns.at(-1);
    return turn?.output ?? JSON.stringify(turn?.end);
  }

  return {
    run: ({ text, conversation }) => run(text, conversation),
    stream({ text, conversation }, onDelta) {
      if (!isHeard) {
        house.bus.on('llm.stream.chunk', ({ conversationId, payload }) => {
          if (payload.kind === 'text') readers.get(conversationId)?.(payload.delta);
        });
      }
      isHeard = true;
      return run(text, conversation, onDelta);
    },
    /** A log in memory keeps what it has for as long as it lives. */
    async tidy() {
      if (log !== undefined) return;
      await house.close();
      house = open(await openLog(), agent, scripted(options.latencyMs));
      names = new Map();
      isHeard = false;
    },
    close: () => house.close(),
  };
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: console.error };

function open(log: Log, agents: LoopPorts['agents'], models: ModelSource): House {
  const bus = createBus({
    clock: systemClock,
    logger: silent,
    record: async (id, draft) => (await log.post(id, draft)).fact,
  });
  const active = shippedPlugins.filter(({ id }) => activeByDefault.has(id));
  const installed = active.map((one) => install(one, {}, { bus, clock: systemClock, logger: silent }));
  const ports: LoopPorts = {
    log,
    bus,
    clock: systemClock,
    ids: randomIds,
    models,
    logger: silent,
    agents,
    blocks: installed.flatMap((one) => [...one.blocks]),
  };
  const worker = createWorker(ports);
  return {
    conversations: createConversations({ ports, worker, bundle: 'bench', agentNamed: () => 'main' }),
    bus,
    async close() {
      await worker.stop(1000);
      await log.close();
    },
  };
}

function agentOf(options: SubjectOptions): LoopPorts['agents'] {
  const properties = { price: { type: 'number' }, quantity: { type: 'number' } };
  const inputSchema = { type: 'object', properties, required: ['price', 'quantity'], additionalProperties: false };
  const tools = toolNames(options.tools).map((name): Tool => ({
    definition: { name, description: toolDescription, inputSchema, effect: 'read', group: 'bench' },
    validate: compileSchema(inputSchema),
    run(args) {
      options.onTool();
      return exposure(args as { price: number; quantity: number });
    },
  }));
  const agent: EffectiveAgent = {
    id: 'main',
    bundle: 'bench@1',
    revision: '1',
    grammar: 'native',
    instructions,
    tools: tools.map((tool) => tool.definition),
    inactive: [],
    role: 'default',
    models: [{ provider: 'scripted', model: 'scripted' }],
    limits: { ...defaultLimits, maxIterations: 1000 },
    onLimit: 'end',
    renderThinking: true,
  };
  const assembled = { agent, digest: digest(agent as unknown as Json), facts: [] };
  const hands = new Map(tools.map((tool) => [tool.definition.name, tool]));
  return { assemble: () => assembled, tools: () => hands };
}

function scripted(latencyMs: number): ModelSource {
  const model = {
    call: ({ messages }: ModelRequest): ModelStream => {
      const parts = partsOf(decide(messages));
      let wait = latencyMs;
      return {
        next() {
          if (wait === 0) return parts.next().value;
          return sleep(wait).then(() => {
            wait = 0;
            return parts.next().value;
          });
        },
        close: () => undefined,
      };
    },
  };
  return { open: () => model };
}

function* partsOf(answer: Reply): Generator<ModelPart, undefined> {
  if ('calls' in answer) {
    for (const call of answer.calls) {
      const input = JSON.stringify(call.arguments);
      yield { type: 'action', part: call.id, name: 'calculate_exposure', input };
    }
    yield { type: 'finish', stop: 'actions', usage };
    return undefined;
  }
  yield { type: 'start', kind: 'text', part: '0' };
  for (const delta of answer.text) yield { type: 'delta', part: '0', delta };
  yield { type: 'end', part: '0' };
  yield { type: 'finish', stop: 'finished', usage };
  return undefined;
}

function decide(messages: readonly Message[]): Reply {
  let at = messages.length - 1;
  const results: number[] = [];
  for (; messages[at]!.role !== 'user'; at--) {
    const message = messages[at]!;
    if (message.role !== 'tool') continue;
    for (const { observation } of message.results) results.push((observation.value as { exposure: number }).exposure);
  }
  const [part] = (messages[at] as Extract<Message, { role: 'user' }>).content;
  const text = part?.type === 'text' ? part.text : '';
  return reply(text, results, () => messages.filter((one) => one.role === 'user').length);
}
