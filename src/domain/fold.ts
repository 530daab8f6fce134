import { AppendList } from '../base/append-list.ts';
import type { Instant } from '../base/clock.ts';
import type { Fact, FactOf, FactPayload } from './event.ts';
import { addUsage, inputTokens, noUsage, outputTokens } from './usage-sum.ts';
import {
  CRASH_LOOP,
  emptyConversation,
  isResumable,
  openRequests,
  openWaits,
  type Conversation,
  type Input,
  type Iteration,
  type SourceEvent,
  type Turn,
} from './conversation.ts';
import { cachedBy } from './fold-cache.ts';
import { allowanceId } from './allowance.ts';
import { isAside } from './aside.ts';
import { afterCompaction, asked, begin, inIteration, judge, observe, request, response, settle } from './fold-turn.ts';
import { awaitChild, awaitResult, childDone, deliver } from './fold-wait.ts';

/** A fold's own copy, which nobody has seen yet: it may be written to until it is returned. */
type Fresh = { -readonly [K in keyof Conversation]: Conversation[K] };

/** The conversation after one more fact. Total: a fact that makes no sense where it stands changes nothing but the head. */
export function apply(conversation: Conversation, fact: Fact): Conversation {
  const moved: Fresh = { ...conversation, head: fact.seq, at: fact.at };
  if (moved.turn !== undefined && moved.turn.stalls > 0) progress(moved, moved.turn, fact);
  if (moved.turn !== undefined && ENDS_REST.has(fact.type)) rested(moved, moved.turn, fact, conversation.at);
  switch (fact.type) {
    case 'io.input':
      return hear(moved, { ...fact.payload, seq: fact.seq, at: fact.at });
    case 'agent.turn.start':
      return startTurn(moved, fact);
    case 'agent.turn.end':
      return endTurn(moved, fact.payload);
    case 'memory.compacted':
      return compacted(moved, fact.payload);
    case 'llm.request':
      if (fact.payload.sections !== undefined && !isAside(fact.payload.purpose))
        moved.sections = { ...moved.sections, ...fact.payload.sections };
      return inTurn(moved, (turn) => request(turn, fact));
    case 'llm.response':
      if (!isAside(fact.payload.purpose)) moved.cached = cachedBy(moved, fact.payload);
      return inTurn(billed(moved, fact.payload), (turn) => response(turn, fact.payload));
    case 'thinking.step':
      return inTurn(moved, (turn) =>
        inIteration(turn, (now) => ({ ...now, thoughts: [...now.thoughts, fact.payload] })),
      );
    case 'tool.invoke':
      moved.spent = { ...moved.spent, actions: moved.spent.actions + 1 };
      return inTurn(moved, (turn) => begin(turn, fact));
    case 'tool.result':
      return inTurn(moved, (turn) => observe(turn, fact.payload));
    case 'plan.request':
      return inTurn(moved, (turn) => ({ ...turn, plan: 'requested' }));
    case 'plan.result':
      return inTurn(moved, (turn) => ({ ...turn, plan: fact.payload }));
    case 'hitl.requested':
      return inTurn(moved, (turn) => asked(turn, fact.payload));
    case 'hitl.responded':
      return inTurn(allowed(moved, fact), (turn) => settle(turn, fact.payload.request, { answer: fact.payload }));
    case 'allowance.revoked':
      moved.allowances = moved.allowances.filter((one) => one.id !== fact.payload.allowance);
      return moved;
    case 'hitl.cancel':
      return inTurn(moved, (turn) => settle(turn, fact.payload.request, { cancelled: fact.payload.reason }));
    case 'skill.loaded':
      return inTurn(moved, (turn) =>
        turn.current === undefined
          ? { ...turn, skills: [...turn.skills, fact.payload] }
          : inIteration(turn, (now) => ({ ...now, skills: [...(now.skills ?? []), fact.payload] })),
      );
    case 'source.event':
      return tellEvent(moved, fact.payload);
    case 'source.pulled':
      return pulled(moved, fact.payload);
    case 'memory.cleared':
      moved.cleared = new Set([...moved.cleared, ...fact.payload.actions]);
      moved.contextTokens = 0;
      return moved;
    case 'tool.loaded':
      moved.loaded = [...new Set([...moved.loaded, ...fact.payload.tools])];
      return moved;
    case 'agent.tool_choice':
      return inTurn(moved, (turn) => ({ ...turn, override: fact.payload }));
    case 'gate.verdict':
      return inTurn(moved, (turn) => judge(turn, fact.payload));
    case 'gate.llm.retry':
      return inTurn(moved, (turn) => ({ ...turn, denied: undefined }));
    case 'memory.compact.request':
      return inTurn(moved, (turn) => ({ ...turn, compaction: 'requested', compactionWhy: fact.payload.why }));
    case 'cancel.request':
      // The turn that was meant has ended meanwhile: the one after it was not meant.
      if (fact.turnId !== undefined && fact.turnId !== moved.turn?.id) return moved;
      if (moved.turn === undefined) return moved.inbox.length === 0 ? moved : { ...moved, cancelNext: true };
      return inTurn(moved, (turn) => (turn.cancel === 'none' ? { ...turn, cancel: 'requested' } : turn));
    case 'cancel.active':
      return inTurn(moved, (turn) => ({ ...turn, cancel: 'active' }));
    case 'cancel.complete':
      return inTurn(moved, (turn) => ({ ...turn, cancel: 'complete' }));
    case 'cancel.resume':
      return resumeTurn(moved, fact.at);
    case 'io.output':
      return inTurn(moved, (turn) => ({ ...turn, output: fact.payload.text }));
    case 'selection.applied':
      return select(moved, fact.payload);
    case 'tool.register':
    case 'tool.changed':
    case 'selection.ignored':
    case 'cache.cold':
    case 'account.inactive':
      return moved;
    case 'memory.recalled':
      return inTurn(moved, (turn) => ({ ...turn, recalled: fact.payload }));
    case 'account.reactivated':
      return inTurn(moved, (turn) => ({ ...turn, reactivated: [...(turn.reactivated ?? []), fact.payload] }));
    case 'computation.started':
      return inTurn(moved, (turn) => awaitResult(turn, fact.payload));
    case 'computation.ended':
      return inTurn(moved, (turn) => deliver(turn, fact.payload));
    case 'subagent.started':
      return inTurn(moved, (turn) => awaitChild(turn, fact.payload));
    case 'subagent.ended':
      return inTurn(childEnded(moved, fact.payload), (turn) => childDone(turn, fact.payload));
    case 'ceiling.set':
      moved.ceiling = fact.payload;
      return moved;
    case 'limits.changed':
      moved.limits = fact.payload.limits;
      return moved;
    default:
      return moved; // A fact of a newer version: kept in the log, unknown to this fold.
  }
}

export function fold(id: string, agentPath: string, facts: Iterable<Fact>): Conversation {
  let conversation = emptyConversation(id, agentPath);
  for (const fact of facts) conversation = apply(conversation, fact);
  return conversation;
}

/** Any fact but that the turn was taken up again is progress. */
function progress(moved: Fresh, turn: Turn, { type }: Fact): void {
  if (turn.stalls < CRASH_LOOP && type !== 'agent.turn.start') moved.turn = { ...turn, stalls: 0 };
}

/** What comes from outside while a turn rests, and the worker that comes back to it. */
const ENDS_REST: ReadonlySet<string> = new Set([
  ...['io.input', 'hitl.responded', 'hitl.cancel', 'computation.ended', 'subagent.ended', 'cancel.request'],
  'agent.turn.start',
]);

/** The time before such a fact was rest, if the turn had somebody to wait for. */
function rested(moved: Fresh, turn: Turn, { type, at }: Fact, before: Instant): void {
  if (type !== 'agent.turn.start' && openRequests(turn).length === 0 && openWaits(turn).length === 0) return;
  if (at > before) moved.turn = { ...turn, restedMs: turn.restedMs + at - before };
}

function childEnded(moved: Fresh, { tokens = 0, actions = 0 }: FactPayload<'subagent.ended'>): Fresh {
  moved.spent = { tokens: moved.spent.tokens + tokens, actions: moved.spent.actions + actions };
  return moved;
}

function billed(moved: Fresh, { usage, failure, purpose }: FactPayload<'llm.response'>): Fresh {
  if (failure === undefined && !isAside(purpose)) moved.contextTokens = inputTokens(usage) + outputTokens(usage);
  moved.usage = addUsage(moved.usage, usage);
  moved.spent = { ...moved.spent, tokens: moved.spent.tokens + inputTokens(usage) + outputTokens(usage) };
  return moved;
}

/** A yes for the whole conversation, as far as the request offered one. One for always is kept with its user, not here. */
function allowed(moved: Fresh, { at, payload }: FactOf<'hitl.responded'>): Fresh {
  const { request: id, decision, allow, by } = payload;
  const { turn } = moved;
  if (turn === undefined || decision !== 'allow' || allow !== 'conversation') return moved;
  const offer = openRequests(turn).find((one) => one.request === id)?.allowance;
  if (offer?.scopes.includes('conversation') !== true) return moved;
  const { scopes: _, ...what } = offer;
  moved.allowances = [...moved.allowances, { ...what, id: allowanceId(moved.id, id), scope: 'conversation', by, at }];
  return moved;
}

function select(moved: Fresh, payload: FactPayload<'selection.applied'>): Conversation {
  const { digest, selection, promoted = [] } = payload;
  // A digest alone says that it is still the one of before.
  if (selection !== undefined) moved.selection = { digest, selection, promoted };
  return moved;
}

function inTurn(moved: Fresh, change: (turn: Turn) => Turn): Conversation {
  if (moved.turn !== undefined) moved.turn = change(moved.turn);
  return moved;
}

function hear(conversation: Conversation, input: Input): Conversation {
  const { turn } = conversation;
  if (turn === undefined || input.mode === 'message') return { ...conversation, inbox: [...conversation.inbox, input] };
  return { ...conversation, turn: { ...turn, pending: [...turn.pending, input] } };
}

/** Of what is told while nobody listens, so many are kept for the next turn: the latest. */
const MOST_WAITING = 100;

function tellEvent(moved: Fresh, event: SourceEvent): Conversation {
  if (moved.turn === undefined) {
    moved.events = [...moved.events, event].slice(-MOST_WAITING);
    return moved;
  }
  return inTurn(moved, (turn) =>
    turn.current === undefined
      ? { ...turn, events: [...turn.events, event] }
      : inIteration(turn, (now) => ({ ...now, events: [...(now.events ?? []), event] })),
  );
}

function pulled(moved: Fresh, payload: FactPayload<'source.pulled'>): Conversation {
  const { source, cursor } = payload;
  if (cursor !== undefined) moved.cursors = { ...moved.cursors, [source]: cursor };
  return inTurn(moved, (turn) => ({ ...turn, pulls: [...(turn.pulls ?? []), payload] }));
}

/** What most turns end with as they began: one list for all of them, since a turn is kept for as long as its conversation. */
const NONE: readonly never[] = [];

function startTurn(conversation: Conversation, fact: FactOf<'agent.turn.start'>): Conversation {
  const agent = fact.payload.agent ?? conversation.agent;
  if (agent === undefined) return conversation;
  const known = { ...conversation, agent, agentDigest: fact.payload.digest };
  const { turn: resumed } = conversation;
  if (resumed !== undefined)
    return { ...known, turn: { ...resumed, agent, stalls: Math.min(resumed.stalls + 1, CRASH_LOOP) } };
  const number = conversation.turns.length + 1;
  const turn: Turn = {
    number,
    id: `t${number}`,
    at: fact.at,
    agent,
    inputs: conversation.inbox,
    iterations: AppendList.of<Iteration>(),
    current: undefined,
    pending: NONE,
    plan: 'none',
    requests: NONE,
    waits: NONE,
    early: NONE,
    restedMs: 0,
    skills: NONE,
    events: conversation.events,
    cancel: conversation.cancelNext ? 'requested' : 'none',
    override: undefined,
    denied: undefined,
    compaction: 'none',
    asides: NONE,
    output: undefined,
    calls: 0,
    faults: 0,
    lastFault: undefined,
    toolCalls: 0,
    empties: 0,
    pauses: 0,
    usage: noUsage,
    repeats: NONE,
    stalls: 0,
    end: undefined,
  };
  return { ...known, inbox: NONE, events: NONE, cancelNext: false, turn };
}

function endTurn(conversation: Conversation, end: FactPayload<'agent.turn.end'>): Conversation {
  const { turn } = conversation;
  if (turn === undefined) return conversation;
  // What nobody read in this turn is not lost: it begins the next one.
  return {
    ...conversation,
    turn: undefined,
    inbox: [...turn.pending, ...conversation.inbox],
    turns: conversation.turns.append({
      ...turn,
      iterations: turn.iterations.trim(),
      pending: NONE,
      end,
      endedAt: conversation.at,
    }),
  };
}

/** A turn that was stopped, or ended at a limit, is open again as the log left it. Messages that came since stay in the inbox. */
function resumeTurn(moved: Fresh, at: Instant): Conversation {
  if (moved.turn !== undefined) return inTurn(moved, (turn) => ({ ...turn, cancel: 'none' }));
  const last = moved.turns.at(-1);
  if (last === undefined || !isResumable(last)) return moved;
  let turns = AppendList.of<Turn>();
  for (const turn of moved.turns) if (turn !== last) turns = turns.append(turn);
  const { current, endedAt = at } = last;
  // A last call that was made because of the limit is over, and so is what it said.
  const wrapped = current?.attempts.at(-1)?.request.purpose === 'wrap_up';
  const open = wrapped ? { iterations: last.iterations.append(current), current: undefined, output: undefined } : {};
  const restedMs = last.restedMs + Math.max(0, at - endedAt);
  const turn = { ...last, ...open, restedMs, cancel: 'none', denied: undefined, stalls: 0, end: undefined } as const;
  return { ...moved, turns, turn };
}

function compacted(conversation: Conversation, payload: FactPayload<'memory.compacted'>): Conversation {
  if (payload.error !== undefined) return inTurn(conversation, (turn) => afterCompaction(turn, 'failed'));
  const summary = { through: payload.through, text: payload.summary };
  return inTurn({ ...conversation, summary, contextTokens: 0 }, (turn) => afterCompaction(turn, 'done'));
}
