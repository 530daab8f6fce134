import { AppendList } from '../base/append-list.ts';
import type { Instant } from '../base/clock.ts';
import type { EffectiveAgent } from './agent.ts';
import type { Block } from './model.ts';
import { decode } from './decision.ts';
import type {
  ActionData,
  Asked,
  CallAttempt,
  CallData,
  Entry,
  EntryOf,
  EntryRole,
  NoticeKind,
  Placed,
} from './entry.ts';
import type { Fact, FactOf, FactType } from './event.ts';
import { addUsage } from './usage-sum.ts';

/** The entries of a conversation: a fold of its facts. Immutable. */
export interface Timeline {
  /** Sequence number of the last fact folded in. */
  readonly head: number;
  /** Entries that can change no more. */
  readonly settled: AppendList<Entry>;
  /** Entries of the turn in work, and what was said since. */
  readonly open: readonly Entry[];
  readonly turn: { readonly number: number; readonly at: Instant } | undefined;
  readonly turns: number;
  readonly grammar: EffectiveAgent['grammar'];
  readonly last: FactType | undefined;
}

export const emptyTimeline: Timeline = {
  head: 0,
  settled: AppendList.of<Entry>(),
  open: [],
  turn: undefined,
  turns: 0,
  grammar: 'native',
  last: undefined,
};

/** Every entry, in order. */
export function entriesOf({ settled, open }: Timeline): readonly Entry[] {
  return [...settled, ...open];
}

/** Entries that are new or have changed since `revision`. */
export function entriesSince(timeline: Timeline, revision: number): readonly Entry[] {
  return entriesOf(timeline).filter((one) => one.revision > revision);
}

/** The timeline after one more fact. Total: a fact that makes no sense where it stands changes nothing but the head. */
export function project(before: Timeline, fact: Fact): Timeline {
  const timeline: Timeline = { ...before, head: fact.seq, last: fact.type };
  switch (fact.type) {
    case 'io.input': {
      const { text, mode, userId } = fact.payload;
      return add(timeline, fact, `said-${fact.seq}`, text, {
        role: 'user',
        data: userId === undefined ? { mode } : { mode, by: userId },
      });
    }
    case 'agent.turn.start':
      return startTurn(timeline, fact, before.last);
    case 'agent.turn.end':
      return endTurn(timeline, fact);
    case 'llm.request':
      return call(timeline, fact);
    case 'llm.response':
      return answered(timeline, fact);
    case 'thinking.step':
      return add(timeline, fact, `thought-${fact.seq}`, fact.payload.text, { role: 'thinking' });
    case 'tool.invoke':
      return begin(timeline, fact);
    case 'tool.result':
      return observe(timeline, fact);
    case 'plan.result': {
      const { steps, source, summary, error } = fact.payload;
      if (error !== undefined) return timeline; // the turn's end says it
      return add(timeline, fact, `plan-${fact.seq}`, summary ?? 'A plan.', {
        role: 'plan',
        data: { steps, source, requests: [] },
      });
    }
    case 'hitl.requested':
      return ask(timeline, fact);
    case 'hitl.responded':
      return settle(timeline, fact, fact.payload.request, { answer: fact.payload, answeredAt: fact.at });
    case 'hitl.cancel':
      return settle(timeline, fact, fact.payload.request, { cancelled: fact.payload.reason });
    case 'io.output':
      return add(timeline, fact, `answer-${fact.seq}`, fact.payload.text, { role: 'assistant', data: { final: true } });
    case 'gate.verdict':
      return judge(timeline, fact);
    case 'cancel.request':
      return notice(timeline, fact, 'cancel', 'The turn was asked to stop.', fact.payload.by);
    case 'cancel.resume':
      return notice(
        { ...timeline, turn: timeline.turn ?? { number: timeline.turns, at: fact.at } },
        fact,
        'resume',
        'The stopped turn goes on.',
        fact.payload.by,
      );
    case 'skill.loaded':
      return notice(timeline, fact, 'skill', `The skill ${fact.payload.name} was loaded.`);
    case 'memory.compacted': {
      const { error, through } = fact.payload;
      return notice(
        timeline,
        fact,
        'compaction',
        error === undefined
          ? `The turns up to ${through} were summarised for the model.`
          : `Older turns could not be summarised: ${error}`,
      );
    }
    case 'agent.tool_choice': {
      const { mode, toolName, duration } = fact.payload;
      return notice(
        timeline,
        fact,
        'tool_choice',
        `The next tool choice is ${mode}${toolName === undefined ? '' : ` ${toolName}`} (${duration}).`,
      );
    }
    case 'selection.ignored':
      return notice(timeline, fact, 'selection', `The saved selection could not be used: ${fact.payload.why}`);
    case 'cache.cold':
      return notice(timeline, fact, 'cache', `The prompt cache went cold: ${fact.payload.what}`);
    case 'account.inactive':
      return notice(
        timeline,
        fact,
        'account',
        `${names(fact.payload.tools.map((one) => one.name))} need the account ${fact.payload.account}.`,
      );
    case 'account.reactivated':
      return notice(
        timeline,
        fact,
        'account',
        `${names(fact.payload.tools)} can be used again: the account ${fact.payload.account} is connected.`,
      );
    case 'subagent.started':
      return notice(timeline, fact, 'subagent', `${fact.payload.agent} began to work on ${fact.payload.conversation}.`);
    case 'subagent.ended':
      return notice(timeline, fact, 'subagent', `${fact.payload.conversation} ended: ${fact.payload.status}.`);
    case 'plan.request':
    case 'tool.register':
    case 'memory.compact.request':
    case 'gate.llm.retry':
    case 'cancel.active':
    case 'cancel.complete':
    case 'selection.applied':
      return timeline;
    default:
      return timeline; // A fact of a newer version: kept in the log, unknown to this fold.
  }
}

/** The timeline of facts, from the first on. */
export function timelineOf(facts: Iterable<Fact>, from: Timeline = emptyTimeline): Timeline {
  let timeline = from;
  for (const fact of facts) timeline = project(timeline, fact);
  return timeline;
}

type Body<R extends EntryRole = EntryRole> = { [K in R]: Omit<EntryOf<K>, keyof Placed> }[R];

function add(timeline: Timeline, fact: Fact, id: string, text: string, body: Body): Timeline {
  const placed: Placed = {
    id,
    position: timeline.settled.length + timeline.open.length + 1,
    revision: fact.seq,
    at: fact.at,
    text,
    ...(timeline.turn !== undefined && { turn: timeline.turn.number }),
  };
  return { ...timeline, open: [...timeline.open, { ...placed, ...body }] };
}

/** Changes the newest open entry that `change` has something to say about. Nothing happens when there is none. */
function revise(timeline: Timeline, fact: Fact, change: (entry: Entry) => Entry | undefined): Timeline {
  for (let index = timeline.open.length - 1; index >= 0; index--) {
    const entry = timeline.open[index];
    const changed = entry === undefined ? undefined : change(entry);
    if (changed !== undefined)
      return { ...timeline, open: timeline.open.with(index, { ...changed, revision: fact.seq }) };
  }
  return timeline;
}

function notice(timeline: Timeline, fact: Fact, kind: NoticeKind, text: string, by?: string): Timeline {
  const data = by === undefined ? { kind } : { kind, by };
  return add(timeline, fact, `notice-${fact.seq}`, text, { role: 'notice', data });
}

/** What makes a turn go on in a new slice without anything having gone wrong. */
const REASONS_TO_GO_ON: ReadonlySet<FactType | undefined> = new Set<FactType | undefined>([
  'hitl.responded',
  'hitl.cancel',
  'cancel.resume',
  'io.input',
]);

function startTurn(timeline: Timeline, fact: FactOf<'agent.turn.start'>, last: FactType | undefined): Timeline {
  const grammar = fact.payload.agent?.grammar ?? timeline.grammar;
  if (timeline.turn !== undefined) {
    if (REASONS_TO_GO_ON.has(last)) return { ...timeline, grammar };
    return notice(
      { ...timeline, grammar },
      fact,
      'restart',
      'The program stopped here; another one went on from the log.',
    );
  }
  const number = timeline.turns + 1;
  const open = timeline.open.map((one) =>
    one.turn === undefined ? { ...one, turn: number, revision: fact.seq } : one,
  );
  return { ...timeline, grammar, open, turns: number, turn: { number, at: fact.at } };
}

function endTurn(timeline: Timeline, fact: FactOf<'agent.turn.end'>): Timeline {
  if (timeline.turn === undefined) return timeline;
  const { status, error } = fact.payload;
  const text = error === undefined ? status : `${status}: ${error.message}`;
  const data = { ...fact.payload, ms: fact.at - timeline.turn.at };
  const ended = add(timeline, fact, `end-${fact.seq}`, text, { role: 'end', data });
  let { settled } = ended;
  for (const entry of ended.open) settled = settled.append(entry);
  return { ...ended, settled, open: [], turn: undefined };
}

function call(timeline: Timeline, fact: FactOf<'llm.request'>): Timeline {
  const { attempt, model, purpose } = fact.payload;
  const begun: CallAttempt = { ...model, at: fact.at };
  if (attempt > 1) {
    const again = revise(timeline, fact, (entry) =>
      entry.role === 'call' && entry.data.state === 'open' && entry.data.purpose === purpose
        ? { ...entry, text: modelName(begun), data: { ...entry.data, attempts: [...entry.data.attempts, begun] } }
        : undefined,
    );
    if (again !== timeline) return again;
  }
  const data: CallData = {
    iteration: fact.iteration ?? 0,
    state: 'open',
    attempts: [begun],
    usage: {},
    ...(purpose !== undefined && { purpose }),
  };
  return add(timeline, fact, `call-${fact.seq}`, modelName(begun), { role: 'call', data });
}

function answered(before: Timeline, fact: FactOf<'llm.response'>): Timeline {
  const { failure, stop, usage, served, content } = fact.payload;
  const timeline = revise(before, fact, (entry) => {
    if (entry.role !== 'call' || entry.data.state !== 'open') return undefined;
    const attempts = entry.data.attempts.map((one, index, all) =>
      index < all.length - 1 ? one : { ...one, ms: fact.at - one.at, ...(failure !== undefined && { failure }) },
    );
    const spent = { ...entry.data, attempts, usage: addUsage(entry.data.usage, usage) };
    if (failure !== undefined) return { ...entry, data: spent };
    return { ...entry, data: { ...spent, state: 'done', stop, ...(served !== undefined && { served }) } };
  });
  if (failure !== undefined || timeline === before || timeline.turn === undefined) return timeline;
  const turnId = `t${timeline.turn.number}`;
  const decision = decode(content, timeline.grammar, turnId, fact.iteration ?? 0);
  // An answer counts when the gates have let it go: it is told by `io.output`.
  if (decision.type !== 'actions') return timeline;
  const words = timeline.grammar === 'native' ? textOf(content) : '';
  let told =
    words.trim() === ''
      ? timeline
      : add(timeline, fact, `spoke-${fact.seq}`, words, { role: 'assistant', data: { final: false } });
  for (const action of decision.actions) {
    told = add(told, fact, action.id, action.name, {
      role: 'action',
      data: { name: action.name, arguments: action.arguments, state: 'asked', verdicts: [], requests: [] },
    });
  }
  return told;
}

function inAction(timeline: Timeline, fact: Fact, id: string, change: (data: ActionData) => ActionData): Timeline {
  return revise(timeline, fact, (entry) => {
    if (entry.role !== 'action' || entry.id !== id) return undefined;
    const data = change(entry.data);
    return { ...entry, text: `${data.name}: ${data.observation?.outcome ?? data.state}`, data };
  });
}

function begin(timeline: Timeline, fact: FactOf<'tool.invoke'>): Timeline {
  const { action, arguments: given, effect, revisedBy } = fact.payload;
  return inAction(timeline, fact, action, (data) => ({
    ...data,
    arguments: given,
    effect,
    state: 'running',
    startedAt: fact.at,
    ...(revisedBy !== undefined && { revisedBy, askedFor: data.arguments }),
  }));
}

function observe(timeline: Timeline, fact: FactOf<'tool.result'>): Timeline {
  const { action, ...observation } = fact.payload;
  return inAction(timeline, fact, action, (data) => {
    if (data.state === 'done') return data;
    return {
      ...data,
      state: 'done',
      observation,
      ...(data.startedAt !== undefined && { ms: fact.at - data.startedAt }),
    };
  });
}

function ask(timeline: Timeline, fact: FactOf<'hitl.requested'>): Timeline {
  const { kind, action, question } = fact.payload;
  const asked: Asked = { ...fact.payload, at: fact.at };
  const known =
    action === undefined
      ? revise(timeline, fact, (entry) =>
          kind === 'plan' && entry.role === 'plan'
            ? { ...entry, data: { ...entry.data, requests: [...entry.data.requests, asked] } }
            : undefined,
        )
      : inAction(timeline, fact, action, (data) => ({
          ...data,
          state: 'waiting',
          requests: [...data.requests, asked],
        }));
  if (known !== timeline) return known;
  return add(timeline, fact, `notice-${fact.seq}`, question, {
    role: 'notice',
    data: { kind: 'question', requests: [asked] },
  });
}

/** The first word counts, as in the fold that decides. */
function settle(
  timeline: Timeline,
  fact: Fact,
  id: string,
  change: Pick<Asked, 'answer' | 'answeredAt' | 'cancelled'>,
): Timeline {
  const isOpen = (one: Asked): boolean => one.request === id && one.answer === undefined && one.cancelled === undefined;
  const settled = (requests: readonly Asked[]): readonly Asked[] =>
    requests.map((one) => (isOpen(one) ? { ...one, ...change } : one));
  return revise(timeline, fact, (entry) => {
    switch (entry.role) {
      case 'action': {
        if (!entry.data.requests.some(isOpen)) return undefined;
        return {
          ...entry,
          data: {
            ...entry.data,
            state: entry.data.startedAt === undefined ? 'asked' : 'running',
            requests: settled(entry.data.requests),
          },
        };
      }
      case 'plan':
        return entry.data.requests.some(isOpen)
          ? { ...entry, data: { ...entry.data, requests: settled(entry.data.requests) } }
          : undefined;
      case 'notice':
        return entry.data.requests?.some(isOpen) === true
          ? { ...entry, data: { ...entry.data, requests: settled(entry.data.requests) } }
          : undefined;
      default:
        return undefined;
    }
  });
}

function judge(timeline: Timeline, fact: FactOf<'gate.verdict'>): Timeline {
  const { payload } = fact;
  const { action, gate, verdict, question, reason } = payload;
  const known =
    action === undefined
      ? timeline
      : inAction(timeline, fact, action, (data) => ({ ...data, verdicts: [...data.verdicts, payload] }));
  if (known !== timeline) return known;
  const did = { deny: 'refused', hold: 'held', revise: 'changed' }[verdict];
  const text = `${gate} ${did} ${JUDGED[question] ?? question}${reason === undefined ? '.' : `: ${reason}`}`;
  return add(timeline, fact, `notice-${fact.seq}`, text, {
    role: 'notice',
    data: { kind: 'verdict', verdict: payload },
  });
}

const JUDGED: Readonly<Record<string, string>> = {
  'before:io.input': 'the message',
  'before:llm.request': 'the model call',
  'before:tool.invoke': 'the action',
  'before:tool.result': 'the result',
  'before:hitl.requested': 'the question to a person',
  'before:io.output': 'the answer',
};

function textOf(content: readonly Block[]): string {
  let text = '';
  for (const one of content) if (one.type === 'text') text += one.text;
  return text;
}

function modelName({ provider, model }: Pick<CallAttempt, 'provider' | 'model'>): string {
  return `${provider} ${model}`;
}

function names(list: readonly string[]): string {
  return list.length === 0 ? 'Tools' : list.join(', ');
}
