import { TreadleError } from '../base/errors.ts';
import type { Json } from '../base/json.ts';
import { utf8Length } from '../base/text.ts';
import type { Part } from '../domain/content.ts';
import { isBlank } from '../base/text.ts';
import { openRequests, type Conversation, type HeldRequest } from '../domain/conversation.ts';
import type { Fact, FactPayload } from '../domain/event.ts';
import type { ConversationMeta, ConversationRow, Log } from '../kernel/ports.ts';
import type { LoopPorts } from '../loop/work.ts';
import type { DriveOptions, Worker } from './worker.ts';

export interface Message {
  readonly text: string;
  readonly attachments?: readonly Part[];
  /** `message` when absent. */
  readonly mode?: 'message' | 'followup' | 'steer';
  readonly userId?: string;
  /** Said once, however often it is sent: the same key gives the same fact. */
  readonly key?: string;
}

export interface Answer {
  readonly request: string;
  readonly decision: 'allow' | 'reject' | 'edit' | 'reply';
  /** The new arguments of an `edit`. */
  readonly arguments?: Json;
  /** The words of a `reply`. */
  readonly text?: string;
  /** A reason for the model. */
  readonly note?: string;
  readonly by: string;
}

/** Conversations as programs use them: start, say, drive, answer, stop, read. */
export interface Conversations {
  /** Adds an empty conversation. Throws `bundle_unknown_name` for an agent that the bundle does not have. */
  start(options?: {
    readonly agent?: string | undefined;
    readonly userId?: string | undefined;
    readonly tenant?: string | undefined;
  }): Promise<ConversationMeta>;
  /** Puts a message on record. Throws `input_invalid`, also when a gate refuses it. Nothing runs yet: `drive` does. */
  say(id: string, message: Message): Promise<Fact>;
  /** Drives until the turn ends or waits for a person. What happens on the way comes over the bus. */
  drive(id: string, options?: DriveOptions): Promise<Conversation>;
  /** Puts an answer on record, once. Throws `request_unknown`, `request_answered` or `answer_invalid`. */
  answer(id: string, answer: Answer): Promise<void>;
  /**
   * Asks the running turn to stop, or the one that a message is about to begin. Nothing happens when there is neither,
   * nor when `turnId` is given and that turn has ended.
   */
  cancel(id: string, by: string, turnId?: string): Promise<void>;
  /** Opens the stopped turn again, where it was. */
  resume(id: string, by: string): Promise<void>;
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
  /** Checks an agent's name and gives the default for none. */
  readonly agentNamed: (name: string | undefined) => string;
}

/** Bytes of one message. A larger text belongs into an attachment or a tool. */
const MESSAGE_BYTES_MAX = 1_000_000;

export function createConversations({ ports, worker, bundle, agentNamed }: ConversationsOptions): Conversations {
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

  /** A person's slip is told to that person, who can put it right; the model would only see that its action was refused. */
  function checkEdit(
    { turn }: Conversation,
    { request, decision, arguments: given }: FactPayload<'hitl.responded'>,
  ): void {
    const id = turn?.requests.find((one) => one.request === request)?.action;
    const name = turn?.current?.actions.find((one) => one.action.id === id)?.action.name;
    if (turn === undefined || name === undefined || decision !== 'edit' || given === undefined) return;
    const problems = ports.agents.tools(turn.agent).get(name)?.validate(given) ?? [];
    if (problems.length > 0)
      throw new TreadleError('answer_invalid', {
        place: request,
        found: problems.join('; '),
        wanted: `arguments that ${name} takes`,
      });
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
    async say(id, { text, attachments, mode = 'message', userId, key }) {
      await find(id);
      if (typeof text !== 'string')
        throw new TreadleError('input_invalid', {
          found: `a text that is ${typeof text}`,
          wanted: 'a message: { text: … }',
        });
      const payload: FactPayload<'io.input'> = { text: text.toWellFormed(), mode };
      if (attachments !== undefined) payload.attachments = [...attachments];
      if (userId !== undefined) payload.userId = userId;
      checkMessage(payload);
      if (!bus.isGated('before:io.input')) return post(id, { type: 'io.input', payload, key });
      const judged = await bus.ask('before:io.input', payload, { conversation: await folded(id), agent: undefined });
      if (judged.outcome !== 'allow') {
        throw new TreadleError('input_invalid', {
          place: judged.denial?.gate ?? judged.holds[0]?.gate,
          found: 'a message that was refused',
          hint: judged.denial?.reason ?? judged.holds[0]?.question,
        });
      }
      return post(id, { type: 'io.input', payload: judged.payload, key });
    },
    drive: async (id, options) => worker.drive(await find(id), options),
    async answer(id, answer) {
      const conversation = await folded(id);
      const payload = checkedAnswer(conversation, answer);
      checkEdit(conversation, payload);
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
      if (turn === undefined && last?.end?.status !== 'stopped') {
        throw new TreadleError('input_invalid', {
          place: id,
          found: `a run that is ${last?.end?.status ?? 'empty'}`,
          wanted: 'one that was stopped',
          hint: 'say something to begin a new turn',
        });
      }
      await post(id, { type: 'cancel.resume', payload: { by }, turnId: last?.id });
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

function checkMessage({ text, attachments }: FactPayload<'io.input'>): void {
  if (isBlank(text) && (attachments?.length ?? 0) === 0)
    throw new TreadleError('input_invalid', { found: 'an empty message', wanted: 'some text or an attachment' });
  const size = utf8Length(text);
  if (size > MESSAGE_BYTES_MAX)
    throw new TreadleError('input_invalid', {
      found: `a message of ${size} bytes`,
      wanted: `at most ${MESSAGE_BYTES_MAX}`,
    });
}

function checkedAnswer(conversation: Conversation, answer: Answer): FactPayload<'hitl.responded'> {
  const { turn } = conversation;
  const request = turn?.requests.find((one) => one.request === answer.request);
  if (turn === undefined || request === undefined) {
    const open = turn === undefined ? [] : openRequests(turn);
    throw new TreadleError('request_unknown', {
      found: JSON.stringify(answer.request),
      wanted: open.length === 0 ? 'an open request; none is open' : open.map((one) => one.request).join(' or '),
    });
  }
  if (request.cancelled !== undefined)
    throw new TreadleError('request_answered', {
      place: answer.request,
      found: `a request that was ${request.cancelled}`,
    });
  const problem = misfit(request, answer);
  if (problem !== undefined) throw new TreadleError('answer_invalid', { place: answer.request, ...problem });
  const payload: FactPayload<'hitl.responded'> = { request: answer.request, decision: answer.decision, by: answer.by };
  if (answer.arguments !== undefined) payload.arguments = answer.arguments;
  if (answer.text !== undefined) payload.text = answer.text.toWellFormed();
  if (answer.note !== undefined) payload.note = answer.note.toWellFormed();
  return payload;
}

const DECISIONS: ReadonlySet<string> = new Set<Answer['decision']>(['allow', 'reject', 'edit', 'reply']);

function misfit(
  request: HeldRequest,
  { decision, arguments: given, text }: Answer,
): { readonly found: string; readonly wanted: string } | undefined {
  if (!DECISIONS.has(decision)) return { found: `the decision ${decision}`, wanted: 'allow, reject, edit or reply' };
  if (request.kind === 'input') {
    if (decision !== 'reply' && decision !== 'reject')
      return { found: decision, wanted: 'reply or reject: it is a question' };
    return decision === 'reply' && (text === undefined || isBlank(text))
      ? { found: 'a reply without words', wanted: 'some text' }
      : undefined;
  }
  if (decision === 'reply')
    return {
      found: 'reply',
      wanted: request.kind === 'plan' ? 'allow or reject' : 'allow, reject or edit: it is an approval',
    };
  if (decision === 'edit' && request.kind === 'plan') return { found: 'edit', wanted: 'allow or reject' };
  return decision === 'edit' && given === undefined
    ? { found: 'an edit without arguments', wanted: 'the new arguments' }
    : undefined;
}
