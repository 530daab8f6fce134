import { TreadleError } from '../base/errors.ts';
import { isResumable, openRequests, type Conversation } from '../domain/conversation.ts';
import type { Fact } from '../domain/event.ts';
import type { RunLimits } from '../domain/run.ts';
import type { AllowanceStore } from '../kernel/choices.ts';
import type { ConversationMeta, ConversationRow, Log } from '../kernel/log.ts';
import { childIdOf } from '../loop/delegate.ts';
import type { LoopPorts } from '../loop/work.ts';
import { keepAllowance } from './selections/allowances.ts';
import { checkedAnswer, type Answer } from './answers.ts';
import { checkedMessage, type Message } from './messages.ts';
import { checkedDelivery, type Delivery } from './hosting/delivery.ts';
import type { DriveOptions, Worker } from './hosting/worker.ts';

export type { Answer } from './answers.ts';
export type { Message } from './messages.ts';

/** Conversations as programs use them: start, say, drive, answer, stop, read. */
export interface Conversations {
  /** Adds an empty conversation. Throws `bundle_unknown_name` for an agent that the bundle does not have. */
  start(options?: {
    readonly agent?: string | undefined;
    readonly userId?: string | undefined;
    readonly tenant?: string | undefined;
  }): Promise<ConversationMeta>;
  /** Puts a message on record. Throws `input_invalid`, and `input_refused` when a gate refuses it. Nothing runs yet: `drive` does. */
  say(id: string, message: Message): Promise<Fact>;
  /** Drives until the turn ends or waits for a person. What happens on the way comes over the bus. */
  drive(id: string, options?: DriveOptions): Promise<Conversation>;
  /** This run and those below it, as far as they ask a person something now. */
  asking(id: string): Promise<readonly Conversation[]>;
  /** Puts an answer on record, once. Throws `request_unknown`, `request_answered` or `answer_invalid`. */
  answer(id: string, answer: Answer): Promise<void>;
  /**
   * Asks the running turn to stop, or the one that a message is about to begin. Nothing happens when there is neither,
   * nor when `turnId` is given and that turn has ended.
   */
  cancel(id: string, by: string, turnId?: string): Promise<void>;
  /** Opens the turn again that was stopped or that a limit ended, where it was. */
  resume(id: string, by: string): Promise<void>;
  /**
   * Hands in what came of work that an action waits for. False when that ticket was redeemed before: the first counts.
   * Throws `ticket_unknown`.
   */
  deliver(id: string, delivery: Delivery & { readonly by: string }): Promise<boolean>;
  /** Sets anew what the run may use. A turn that a limit has ended goes on with `resume`. */
  limit(id: string, limits: RunLimits, by: string): Promise<void>;
  /** The fold of the whole log. Throws `conversation_unknown`. */
  read(id: string): Promise<Conversation>;
  facts(id: string): AsyncIterable<Fact>;
  find(id: string): Promise<ConversationRow>;
  list(query?: Partial<Parameters<Log['list']>[0]>): Promise<readonly ConversationRow[]>;
}

export interface ConversationsOptions {
  readonly ports: LoopPorts;
  readonly worker: Worker;
  readonly bundle: string;
  /** Where users' yeses for always are kept. Absent: nobody is offered one. */
  readonly allowances?: AllowanceStore | undefined;
  /** Checks an agent's name and gives the default for none. */
  readonly agentNamed: (name: string | undefined) => string;
}

/** Runs below one that are looked at for questions. */
const MOST_BELOW = 200;

export function createConversations(options: ConversationsOptions): Conversations {
  const { ports, worker, bundle, allowances, agentNamed } = options;
  const { log, bus, clock, ids } = ports;

  async function find(id: string): Promise<ConversationRow> {
    const row = await log.find(id);
    if (row === undefined)
      throw new TreadleError('conversation_unknown', { found: JSON.stringify(id), hint: 'see `treadle list`' });
    return row;
  }

  async function folded(id: string): Promise<Conversation> {
    return worker.fold(await find(id));
  }

  /** A fact from outside. Whoever drives the conversation delivers it; if nobody does, we do. */
  async function post(id: string, draft: Parameters<Log['post']>[1]): Promise<Fact> {
    const { fact, fresh } = await log.post(id, draft);
    if (fresh && !worker.isDriving(id)) bus.deliver(fact);
    return fact;
  }

  return {
    async start({ agent, userId = 'local', tenant = 'local' } = {}) {
      const name = agentNamed(agent);
      const meta: ConversationMeta = {
        id: ids.next('run'),
        agent: name,
        bundle,
        userId,
        tenant,
        agentPath: name,
        createdAt: clock.now(),
      };
      await log.create(meta);
      return meta;
    },
    async say(id, message) {
      await find(id);
      const payload = await checkedMessage(message, bus, () => folded(id));
      return post(id, { type: 'io.input', payload, key: message.key });
    },
    drive: async (id, options) => worker.drive(await find(id), options),
    async asking(id) {
      const row = await find(id);
      const below = await log.list({ root: row.root ?? id, limit: MOST_BELOW, archived: 'any' });
      const ids = [id, ...below.map((one) => one.id).filter((one) => one.startsWith(childIdOf(id, '')))];
      const all = await Promise.all(ids.map(folded));
      return all.filter(({ turn }) => turn !== undefined && openRequests(turn).length > 0);
    },
    async answer(id, answer) {
      const row = await find(id);
      const conversation = await worker.fold(row);
      const payload = checkedAnswer(conversation, answer, ports.agents);
      const { fact } = await log.post(id, {
        type: 'hitl.responded',
        payload,
        key: answer.request,
        turnId: conversation.turn?.id,
      });
      if (fact.type !== 'hitl.responded' || JSON.stringify(fact.payload) !== JSON.stringify(payload)) {
        throw new TreadleError('request_answered', {
          place: answer.request,
          hint: 'somebody was faster; read the conversation again',
        });
      }
      const asked = conversation.turn?.requests.find((one) => one.request === answer.request);
      if (asked !== undefined)
        await keepAllowance(allowances, row, conversation.agent, { ...asked, answer: payload, answeredAt: fact.at });
      if (!worker.isDriving(id)) bus.deliver(fact);
    },
    async cancel(id, by, turnId) {
      const { turn, inbox } = await folded(id);
      if (turnId !== undefined && turnId !== turn?.id) return;
      if (turn !== undefined || inbox.length > 0)
        await post(id, { type: 'cancel.request', payload: { by }, turnId: turn?.id });
    },
    async resume(id, by) {
      const { turn, turns } = await folded(id);
      const last = turn ?? turns.at(-1);
      if (turn === undefined && (last === undefined || !isResumable(last))) {
        throw new TreadleError('input_invalid', {
          place: id,
          found: `a run that is ${last?.end?.status ?? 'empty'}`,
          wanted: 'one that was stopped, or that a limit ended',
          hint: 'say something to begin a new turn',
        });
      }
      await post(id, { type: 'cancel.resume', payload: { by }, turnId: last?.id });
    },
    async deliver(id, { by, ...delivery }) {
      const { fact, fresh } = await log.post(id, checkedDelivery(await folded(id), delivery, by));
      if (fresh && !worker.isDriving(id)) bus.deliver(fact);
      return fresh;
    },
    async limit(id, limits, by) {
      await find(id);
      await post(id, { type: 'limits.changed', payload: { limits, by } });
    },
    read: folded,
    async *facts(id) {
      await find(id);
      for (let after = 0; ;) {
        const page = await log.read(id, after, 500);
        yield* page;
        const last = page.at(-1);
        if (last === undefined) return;
        after = last.seq;
      }
    },
    find,
    list: async (query = {}) => log.list({ limit: 50, ...query }),
  };
}
