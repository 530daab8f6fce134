import { AppendList } from '../base/append-list.ts';
import type { Entry } from './entry.ts';
import type { Fact } from './event.ts';
import { ask, begin, observe, settle } from './timeline-action.ts';
import { answered, call, output, think } from './timeline-call.ts';
import { add, type Timeline } from './timeline-edit.ts';
import { awaitOther, otherDone } from './timeline-wait.ts';
import { judge, notice } from './timeline-notice.ts';
import { endTurn, resumeTurn, startTurn } from './timeline-turn.ts';

export type { Timeline } from './timeline-edit.ts';

export const emptyTimeline: Timeline = {
  head: 0,
  progressAt: 0,
  settled: AppendList.of<Entry>(),
  open: AppendList.of<Entry>(),
  turn: undefined,
  turns: 0,
  grammar: 'native',
  deferral: undefined,
  last: undefined,
  delegated: false,
};

/** Every entry, in order. */
export function entriesOf({ settled, open }: Timeline): readonly Entry[] {
  return [...settled, ...open];
}

export function lengthOf({ settled, open }: Timeline): number {
  return settled.length + open.length;
}

/** The entry at a position, from 1. */
export function entryAt({ settled, open }: Timeline, position: number): Entry | undefined {
  return position > settled.length
    ? open.at(position - settled.length - 1)
    : position < 1
      ? undefined
      : settled.at(position - 1);
}

/** Entries that are new or have changed since `revision`, in order. Looks at no turn that had ended by then. */
export function entriesSince(timeline: Timeline, revision: number): readonly Entry[] {
  const found: Entry[] = [];
  for (let position = lengthOf(timeline); position > 0; position--) {
    const entry = entryAt(timeline, position);
    if (entry === undefined || (entry.role === 'end' && entry.revision <= revision)) break;
    if (entry.revision > revision) found.push(entry);
  }
  return found.reverse();
}

/** The timeline after one more fact. Total: a fact that makes no sense where it stands changes nothing but the head. */
export function project(before: Timeline, fact: Fact): Timeline {
  const progressAt = isProgress(fact) ? fact.at : before.progressAt;
  const timeline: Timeline = { ...before, head: fact.seq, progressAt, last: fact.type };
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
      return think(timeline, fact);
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
      return output(timeline, fact);
    case 'gate.verdict':
      return judge(timeline, fact);
    case 'cancel.request':
      return notice(timeline, fact, 'cancel', 'The turn was asked to stop.', fact.payload.by);
    case 'cancel.resume':
      return resumeTurn(timeline, fact);
    case 'tool.changed': {
      const { server, added, removed, changed } = fact.payload;
      const told = [
        ...(added.length === 0 ? [] : [`new: ${names(added)}`]),
        ...(removed.length === 0 ? [] : [`gone: ${names(removed)}`]),
        ...(changed.length === 0 ? [] : [`described otherwise: ${names(changed)}`]),
      ];
      return notice(timeline, fact, 'tools', `The tools of ${server} changed; ${told.join('; ')}.`);
    }
    case 'skill.loaded':
      return notice(timeline, fact, 'skill', `The skill ${fact.payload.name} was loaded.`);
    case 'memory.compacted': {
      const { error, through } = fact.payload;
      return notice(
        timeline,
        fact,
        'compaction',
        error === undefined
          ? `The turns up to ${through} are shortened for the model.`
          : `Older turns could not be summarised: ${error}`,
      );
    }
    case 'source.event':
      return notice(timeline, fact, 'event', `${fact.payload.source}: ${fact.payload.text}`);
    case 'source.pulled':
      return fact.payload.error === undefined
        ? timeline
        : notice(
            timeline,
            fact,
            'event',
            `${fact.payload.source} could not be asked for events: ${fact.payload.error}`,
          );
    case 'memory.cleared': {
      const { length } = fact.payload.actions;
      const what = length === 1 ? '1 old result is' : `${length} old results are`;
      return notice(timeline, fact, 'compaction', `${what} not shown to the model any more.`);
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
    case 'memory.recalled':
      return fact.payload.problem === undefined
        ? timeline
        : notice(timeline, fact, 'memory', `The notes could not be read: ${fact.payload.problem}`);
    case 'computation.started':
      return awaitOther(timeline, fact);
    case 'subagent.started':
      return awaitOther({ ...timeline, delegated: true }, fact);
    case 'computation.ended':
    case 'subagent.ended':
      return otherDone(timeline, fact);
    case 'limits.changed':
      return notice(timeline, fact, 'limits', 'What the run may use was changed.', fact.payload.by);
    case 'allowance.revoked':
      return notice(
        timeline,
        fact,
        'allowance',
        'What was allowed for this conversation is asked for again.',
        fact.payload.by,
      );
    case 'ceiling.set':
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

function names(list: readonly string[]): string {
  return list.length === 0 ? 'Tools' : list.join(', ');
}

/** A worker that takes a conversation over has not got on with it yet. */
function isProgress(fact: Fact): boolean {
  return fact.type !== 'agent.turn.start' || fact.payload.resumed !== true;
}
