import { randomIds } from '../base/ids.ts';
import { systemClock } from '../base/clock.ts';
import { assert, unreachable } from '../base/assert.ts';
import { toJson, type Json } from '../base/json.ts';
import { isPromise, type MaybePromise } from '../base/promise.ts';
import type { EffectiveAgent } from '../domain/agent.ts';
import { defaultLimits } from '../domain/limits.ts';
import type { Conversation } from '../domain/conversation.ts';
import type { ModelPart } from '../domain/model.ts';
import type { ConversationMeta } from '../kernel/log.ts';
import type { Logger } from '../kernel/logger.ts';
import type { ModelStream } from '../kernel/model.ts';
import type { Tool } from '../kernel/running-tool.ts';
import { createBus } from '../kernel/bus.ts';
import { drive } from '../loop/drive.ts';
import { createMemoryLog } from '../adapters/stores/memory.ts';

/** What the decision function is shown: the task, then each decision with its observation. Fresh and frozen each time. */
export type LoopMessage =
  | { readonly role: 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: Json }
  | { readonly role: 'tool'; readonly name: string; readonly content: Json };

/** Returns `{type: 'tool', tool, arguments}` or `{type: 'finish', answer}`; anything else ends the loop with an error. */
export type Decide = (messages: readonly LoopMessage[]) => MaybePromise<unknown>;

/** Thrown by a tool or a decision function: an expected fault, told as the loop's `error`. Anything else leaves the loop. */
export class LoopFault extends Error {
  override readonly name = 'LoopFault';
}

export type LoopResult =
  | { readonly status: 'completed'; readonly iterations: number; readonly toolCalls: number; readonly answer: string }
  | { readonly status: 'error'; readonly iterations: number; readonly toolCalls: number; readonly error: string }
  | { readonly status: 'max_iterations_reached'; readonly iterations: number; readonly toolCalls: number };

export interface RunLoopOptions {
  /** The allowlist. Each checks its own arguments and throws a `LoopFault` when they are wrong. */
  readonly tools: Readonly<Record<string, (args: Json) => MaybePromise<unknown>>>;
  /** 1 to 20; 4 when absent. */
  readonly maxIterations?: number;
  /** The first message. */
  readonly task?: string;
}

/**
 * The smallest door: a decision function and some tools through the real loop, in memory, strict.
 *
 * Every fault ends it; a tool call counts once it has returned. Throws a `RangeError` for a bad `maxIterations`.
 */
export async function runLoop(
  decide: Decide,
  { tools, maxIterations = 4, task = '' }: RunLoopOptions,
): Promise<LoopResult> {
  if (!Number.isInteger(maxIterations) || maxIterations < 1 || maxIterations > 20) {
    throw new RangeError('max_iterations must be an integer from 1 to 20');
  }
  const story: Story = {
    messages: [{ role: 'user', content: task }],
    decision: null,
    fault: undefined,
    escaped: undefined,
  };
  const hands = new Map(Object.entries(tools).map(([name, run]) => [name, hand(name, run, story)]));
  const agent = strictAgent([...hands.values()], maxIterations);
  const ended = await once(task, {
    models: { open: () => ({ call: (_request, { signal }) => deciding(decide, story, signal) }) },
    agents: { assemble: () => ({ agent, digest: 'loop', facts: [] }), tools: () => hands },
  });
  if (story.escaped !== undefined) throw story.escaped.error;
  return resultOf(ended, story);
}

/** What the two functions of the caller have said so far. */
interface Story {
  readonly messages: LoopMessage[];
  decision: Json;
  /** The text of the fault that ends the loop, as it was thrown. */
  fault: string | undefined;
  /** Something that is no fault of a decision: it leaves the loop as it is. */
  escaped: { readonly error: unknown } | undefined;
}

type Ports = Pick<Parameters<typeof drive>[0], 'models' | 'agents'>;

async function once(task: string, ports: Ports): Promise<Conversation> {
  const log = createMemoryLog({ clock: systemClock });
  const meta: ConversationMeta = {
    id: 'loop',
    agent: 'loop',
    bundle: 'loop',
    userId: 'local',
    tenant: 'local',
    agentPath: 'loop',
    createdAt: 0,
  };
  log.create(meta);
  log.post(meta.id, { type: 'io.input', payload: { text: task, mode: 'message' } });
  const lease = log.take(meta.id, 'loop', Number.MAX_SAFE_INTEGER);
  assert(lease !== undefined, 'a new conversation has no other writer');
  const bus = createBus({ clock: systemClock, logger: silent, record: (id, draft) => log.post(id, draft).fact });
  return drive({ log, bus, clock: systemClock, ids: randomIds, logger: silent, blocks: [], ...ports }, meta, lease);
}

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

function strictAgent(tools: readonly Tool[], maxIterations: number): EffectiveAgent {
  return {
    id: 'loop',
    bundle: 'loop',
    revision: 'loop',
    grammar: 'json',
    instructions: '',
    tools: tools.map((tool) => tool.definition),
    inactive: [],
    role: 'decide',
    models: [{ provider: 'decide', model: 'decide' }],
    limits: {
      ...defaultLimits,
      maxIterations,
      maxConcurrent: 1,
      maxFaults: 0,
      maxAttempts: 1,
      maxRepeats: 0,
      modelIdleMs: 2_000_000_000,
      maxResultBytes: 1_000_000_000,
    },
    onLimit: 'end',
    renderThinking: false,
  };
}

/** A tool that checks its own arguments. */
function hand(name: string, run: (args: Json) => MaybePromise<unknown>, story: Story): Tool {
  const returned = (value: unknown): Json => {
    const content = toJson(value);
    story.messages.push({ role: 'assistant', content: story.decision }, { role: 'tool', name, content });
    return content;
  };
  return {
    definition: { name, description: '', inputSchema: {}, effect: 'read', timeoutMs: 0, group: 'loop' },
    validate: () => [],
    run: (args) => attempt(() => run(args), returned, story),
  };
}

/** One call of the decision function, as a model that answers with the decision's JSON. */
function deciding(decide: Decide, story: Story, signal: AbortSignal): ModelStream {
  const messages = structuredClone(story.messages); // a caller that edits what it was shown changes nothing
  const said = (value: unknown): ModelPart[] => {
    story.decision = toJson(value);
    return [
      { type: 'start', kind: 'text', part: '0' },
      { type: 'delta', part: '0', delta: JSON.stringify(story.decision) },
      { type: 'end', part: '0' },
      { type: 'finish', stop: 'finished', usage: {} },
    ];
  };
  let parts: ModelPart[] | undefined;
  return {
    next() {
      if (parts !== undefined || signal.aborted) return parts?.shift();
      const asked = attempt(() => decide(messages), said, story);
      if (!isPromise(asked)) return (parts = asked).shift();
      return asked.then((late) => (parts = late).shift());
    },
    close: () => undefined,
  };
}

/** Runs one of the caller's functions and tells a fault from a bug. */
function attempt<T>(run: () => unknown, use: (value: unknown) => T, story: Story): MaybePromise<T> {
  const failed = (error: unknown): never => {
    if (error instanceof LoopFault) story.fault = error.message;
    else story.escaped ??= { error };
    throw error;
  };
  try {
    const value = run();
    return isPromise(value) ? value.then(use, failed) : use(value);
  } catch (error) {
    return failed(error);
  }
}

function resultOf(conversation: Conversation, { fault }: Story): LoopResult {
  const turn = conversation.turns.at(-1);
  assert(turn?.end !== undefined, 'a loop that nobody waits for ends');
  const { status, iterations, toolCalls, error } = turn.end;
  switch (status) {
    case 'completed':
      return { status, iterations, toolCalls, answer: turn.output ?? '' };
    case 'max_iterations_reached':
      return { status, iterations, toolCalls };
    case 'error':
    case 'stopped':
    case 'plan_rejected':
      return {
        status: 'error',
        iterations,
        toolCalls,
        error: fault ?? (error?.code === 'not_allowed' ? 'Tool is not allowed' : (error?.message ?? status)),
      };
    default:
      return unreachable(status);
  }
}
