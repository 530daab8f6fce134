import { systemClock, type Clock } from '../../src/base/clock.ts';
import { digest } from '../../src/base/digest.ts';
import type { IdSource } from '../../src/base/ids.ts';
import type { Json } from '../../src/base/json.ts';
import { isPromise } from '../../src/base/promise.ts';
import type { EffectiveAgent, Limits } from '../../src/domain/agent.ts';
import { defaultLimits } from '../../src/domain/limits.ts';
import type { Conversation } from '../../src/domain/conversation.ts';
import { fold } from '../../src/domain/fold.ts';
import type { Fact, FactPayload, FactType, TreadleEvent } from '../../src/domain/event.ts';
import type { ToolDefinition } from '../../src/domain/tool.ts';
import { createBus, type Bus } from '../../src/kernel/bus.ts';
import type { ConversationMeta, Lease, Log } from '../../src/kernel/log.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import type { ModelSource } from '../../src/kernel/model.ts';
import type { Tool, ToolContext } from '../../src/kernel/running-tool.ts';
import { drive } from '../../src/loop/drive.ts';
import type { LoopPorts } from '../../src/loop/work.ts';
import { createScriptedModel } from '../../src/adapters/models/scripted.ts';
import type { Script } from '../../src/adapters/models/script.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';

/** A tool in one line: its name, what it does, and whatever of its definition matters to the test. */
export function aTool(
  name: string,
  run: (args: never, context: ToolContext) => unknown,
  more: Partial<ToolDefinition> & Pick<Partial<Tool>, 'validate' | 'probe' | 'judge' | 'preview'> = {},
): Tool {
  const { validate = () => [], probe, judge, preview, ...definition } = more;
  const tool = {
    definition: {
      name,
      description: name,
      inputSchema: { type: 'object' },
      effect: 'read' as const,
      group: 'test',
      ...definition,
    },
    validate,
    run: run,
  };
  return {
    ...tool,
    ...(probe === undefined ? {} : { probe }),
    ...(judge === undefined ? {} : { judge }),
    ...(preview === undefined ? {} : { preview }),
  };
}

export interface HouseOptions {
  readonly script?: Script;
  readonly models?: ModelSource;
  readonly tools?: readonly Tool[];
  readonly limits?: Partial<Limits>;
  readonly agent?: Partial<EffectiveAgent>;
  /** What the agent has become by the turn that begins now. */
  readonly change?: () => Partial<EffectiveAgent>;
  readonly log?: Log;
  readonly clock?: Clock;
  /** Registers gates and listeners. */
  readonly plugins?: (bus: Bus) => void;
  readonly logger?: Logger;
  readonly gateTimeoutMs?: number;
}

/** The real loop with the shipped scripted model and memory log, and one conversation in it. */
export interface House {
  readonly log: Log;
  readonly bus: Bus;
  readonly ports: LoopPorts;
  readonly meta: ConversationMeta;
  /** Everything that was delivered, facts and passing events, in order. */
  readonly heard: TreadleEvent[];
  say(text: string, mode?: FactPayload<'io.input'>['mode']): Promise<Fact>;
  post(draft: Parameters<Log['post']>[1]): Promise<Fact>;
  /** One slice of a worker: take the lease, drive until rest, let go. */
  drive(options?: { readonly signal?: AbortSignal; readonly owner?: string }): Promise<Conversation>;
  /** Says it and drives. */
  ask(text: string): Promise<Conversation>;
  facts(): Promise<readonly Fact[]>;
  /** The types of all facts, as one line. */
  story(): Promise<string>;
  fold(): Promise<Conversation>;
}

export const noIds: IdSource = { next: (prefix) => `${prefix}_1`, fraction: () => 0 };
export const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export function anAgent(
  tools: readonly Tool[],
  limits: Partial<Limits> = {},
  more: Partial<EffectiveAgent> = {},
): EffectiveAgent {
  return {
    id: 'main',
    bundle: 'test@1',
    revision: 'r1',
    grammar: 'native',
    instructions: 'You are a test.',
    tools: tools.map((tool) => tool.definition),
    inactive: [],
    role: 'balanced',
    models: [{ provider: 'scripted', model: 'scripted' }],
    limits: { ...defaultLimits, ...limits },
    onLimit: 'end',
    renderThinking: true,
    ...more,
  };
}

export function aHouse(options: HouseOptions = {}): House {
  const { tools = [], clock = systemClock } = options;
  const log = options.log ?? createMemoryLog({ clock });
  const agent = anAgent(tools, options.limits, options.agent);
  const hands = new Map(tools.map((tool) => [tool.definition.name, tool]));
  const assembled = { agent, digest: digest(agent as unknown as Json), facts: [] };
  const changed = (): typeof assembled => {
    if (options.change === undefined) return assembled;
    const now = { ...agent, ...options.change() };
    return { agent: now, digest: digest(now as unknown as Json), facts: [] };
  };
  const model = createScriptedModel(options.script ?? [{ text: 'done' }], { clock });
  const bus = createBus({
    clock,
    logger: options.logger ?? silent,
    record: async (id, draft) => (await log.post(id, draft)).fact,
    ...(options.gateTimeoutMs === undefined ? {} : { gateTimeoutMs: options.gateTimeoutMs }),
  });
  options.plugins?.(bus);
  const heard: TreadleEvent[] = [];
  bus.on('*', (event) => void heard.push(event));
  const ports: LoopPorts = {
    log,
    bus,
    clock,
    ids: noIds,
    models: options.models ?? { open: () => model },
    agents: { assemble: () => changed(), tools: () => hands },
    logger: options.logger ?? silent,
    blocks: [],
  };
  const meta: ConversationMeta = {
    id: 'c1',
    agent: 'main',
    bundle: 'test',
    userId: 'ana',
    tenant: 'local',
    agentPath: 'main',
    createdAt: 0,
  };
  const created = log.create(meta);

  const house: House = {
    log,
    bus,
    ports,
    meta,
    heard,
    async post(draft) {
      if (isPromise(created)) await created;
      return (await log.post(meta.id, draft)).fact;
    },
    say: (text, mode = 'message') => house.post({ type: 'io.input', payload: { text, mode } }),
    async drive({ signal, owner = 'w1' } = {}) {
      const lease: Lease | undefined = await log.take(meta.id, owner, 60_000);
      if (lease === undefined) throw new Error('the lease is taken');
      try {
        return await drive(ports, meta, lease, signal === undefined ? {} : { signal });
      } finally {
        await log.release(lease);
      }
    },
    async ask(text) {
      await house.say(text);
      return house.drive();
    },
    facts: async () => log.read(meta.id, 0, 10_000),
    story: async () => (await house.facts()).map((fact) => fact.type).join(' '),
    fold: async () => fold(meta.id, 'main', await house.facts()),
  };
  return house;
}

/** The payload of the last fact of a type. */
export async function lastOf<T extends FactType>(house: House, type: T): Promise<FactPayload<T> | undefined> {
  const found = (await house.facts()).findLast((fact) => fact.type === type);
  return found?.payload as FactPayload<T> | undefined; // of that type
}

/** A promise and the hand that settles it. */
export function aSignal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

/** Gives everything that is ready its turn. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
}
