import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { randomIds } from '../../base/ids.ts';
import { openRequests, type Conversation } from '../../domain/conversation.ts';
import type { Fact } from '../../domain/event.ts';
import type { Logger } from '../../kernel/logger.ts';
import { Money } from '../../adapters/prices/money.ts';
import { createMemoryLog } from '../../adapters/stores/memory.ts';
import type { Answer } from '../answers.ts';
import { createConversations, type Conversations } from '../conversations.ts';
import type { Environment } from '../bundle/environment.ts';
import { openBundle } from '../bundle/open-bundle.ts';
import { pricingOf } from '../models/pricing.ts';
import { createWorker } from '../hosting/worker.ts';
import { failuresOf, measured, type Measured } from './checking.ts';
import { judgeWith } from './judge.ts';
import { modelsOf } from './scripted-models.ts';
import { withStubs } from './stubs.ts';
import type { EvalCase, Suite } from './suite.ts';

/** One repeat of a case: passed when there are no failures. */
export interface Attempt extends Measured {
  readonly failures: readonly string[];
  readonly ms: number;
}

export interface CaseOptions {
  readonly suite: Suite;
  /** The file of the suite: what it names is beside it. */
  readonly file: string;
  readonly environment: Environment;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 120_000;
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Runs a case once, in a log of its own that nobody keeps. Throws what opening its bundle throws. */
export async function runCase(one: EvalCase, { suite, file, environment, signal }: CaseOptions): Promise<Attempt> {
  const clock = systemClock;
  const began = clock.now();
  const folder = path.dirname(path.resolve(file));
  const models = await modelsOf(one.model ?? suite.model, folder);
  const log = createMemoryLog({ clock });
  const bundle = path.resolve(folder, suite.bundle);
  const rehearsal = { ids: randomIds, logger: silent, observed: false };
  const opened = await openBundle({ bundle, environment, log, clock, models, ...rehearsal });
  const stubs = { ...suite.stubs, ...one.stubs };
  const runs = [...(suite.runs ?? []), ...(one.runs ?? [])];
  const ports = { ...opened.ports, agents: withStubs(opened.ports.agents, { stubs, runs }) };
  const worker = createWorker(ports);
  const agentNamed = (name?: string): string => opened.loaded.agentNamed(name);
  const conversations = createConversations({ ports, worker, bundle, agentNamed, allowances: undefined });
  try {
    const { id } = await conversations.start({ agent: one.agent ?? suite.agent, userId: 'eval' });
    const timeoutMs = one.timeout_ms ?? suite.timeout_ms ?? TIMEOUT_MS;
    const isOver = { value: false };
    const stop = (): void => {
      isOver.value = true;
      conversations.cancel(id, 'eval').catch(() => undefined);
    };
    const release = clock.after(timeoutMs, stop);
    signal?.addEventListener('abort', stop);
    const told = await converse(conversations, id, one, suite, () => isOver.value);
    release();
    signal?.removeEventListener('abort', stop);
    const conversation = await conversations.read(id);
    const price = pricingOf(opened.loaded.bundle.prices, clock);
    const result = measured(conversation, costOf(log.read(id, 0, Number.MAX_SAFE_INTEGER), price));
    const judge = judgeWith(suite.judge, { models: opened.ports.models, agent: conversation.agent, folder, clock });
    const late = isOver.value ? [`It was not done within ${timeoutMs} ms.`] : [];
    const failures = [...late, ...told, ...(await failuresOf(one.expect, conversation, result, judge))];
    return { ...result, failures, ms: clock.now() - began };
  } finally {
    await worker.stop(0);
    await opened.close(0);
  }
}

/** Says what the case says, and answers what it is asked. */
async function converse(
  conversations: Conversations,
  id: string,
  one: EvalCase,
  suite: Suite,
  isOver: () => boolean,
): Promise<readonly string[]> {
  const replies = [...(one.answers ?? [])];
  const approval = one.approvals ?? suite.approvals ?? 'reject';
  for (const text of typeof one.input === 'string' ? [one.input] : one.input) {
    if (isOver()) break;
    await conversations.say(id, { text });
    let conversation = await conversations.drive(id);
    while (!isOver()) {
      const answer = answerTo(conversation, approval, replies);
      if (answer === undefined) break;
      await conversations.answer(id, answer);
      conversation = await conversations.drive(id);
    }
  }
  return replies.length === 0 ? [] : [`It did not ask for ${replies.length} of the answers.`];
}

function answerTo({ turn }: Conversation, approval: 'allow' | 'reject', replies: string[]): Answer | undefined {
  const [open] = turn === undefined ? [] : openRequests(turn);
  if (open === undefined) return undefined;
  const { request, kind } = open;
  if (kind !== 'input') return { request, decision: approval, by: 'eval' };
  const text = replies.shift();
  return text === undefined ? undefined : { request, decision: 'reply', text, by: 'eval' };
}

function costOf(facts: readonly Fact[], price: ReturnType<typeof pricingOf>): string | undefined {
  const amounts: string[] = [];
  let asked: Extract<Fact, { type: 'llm.request' }> | undefined;
  for (const fact of facts) {
    if (fact.type === 'llm.request') asked = fact;
    if (fact.type !== 'llm.response' || asked === undefined) continue;
    const { cost } = price(asked.payload.model, fact.payload.usage);
    if (cost === undefined) return undefined;
    amounts.push(cost);
  }
  return Money.sum(0, ...amounts).toFixed();
}
