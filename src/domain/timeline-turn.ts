import { msBetween } from '../base/clock.ts';
import { AppendList } from '../base/append-list.ts';
import type { Entry } from './entry.ts';
import type { FactOf, FactType } from './event.ts';
import { add, type Timeline } from './timeline-edit.ts';
import { notice } from './timeline-notice.ts';

/** What is stated from outside while a turn rests: it goes on in a new slice without anything having gone wrong. */
const REASONS_TO_GO_ON: ReadonlySet<FactType | undefined> = new Set<FactType | undefined>([
  'io.input',
  'hitl.responded',
  'hitl.cancel',
  'computation.ended',
  'subagent.ended',
  'limits.changed',
  'allowance.revoked',
  'gate.llm.retry',
  'cancel.request',
  'cancel.resume',
]);

/** A turn begins, or goes on. `last` is the fact before this one. */
export function startTurn(timeline: Timeline, fact: FactOf<'agent.turn.start'>, last: FactType | undefined): Timeline {
  const { grammar, deferral } = fact.payload.agent ?? timeline;
  if (timeline.turn !== undefined) {
    if (REASONS_TO_GO_ON.has(last) || !isUnderWay(timeline, last)) return { ...timeline, grammar, deferral };
    return notice(
      { ...timeline, grammar, deferral },
      fact,
      'restart',
      'The program stopped here; another one went on from the log.',
    );
  }
  const number = timeline.turns + 1;
  let open = AppendList.of<Entry>();
  for (const one of timeline.open)
    open = open.append(one.turn === undefined ? { ...one, turn: number, revision: fact.seq } : one);
  return { ...timeline, grammar, deferral, open, turns: number, turn: { number, at: fact.at } };
}

/** A call or an action has no end, so its worker died. One that had its share of a long turn leaves it between two of them. */
function isUnderWay({ open }: Timeline, last: FactType | undefined): boolean {
  if (last === 'plan.request' || last === 'memory.compact.request') return true;
  for (const entry of open) {
    if (entry.role === 'action' && entry.data.state === 'running') return true;
    if (entry.role === 'call' && entry.data.state === 'open') return true;
  }
  return false;
}

/** Nothing of an ended turn changes any more. */
export function endTurn(timeline: Timeline, fact: FactOf<'agent.turn.end'>): Timeline {
  if (timeline.turn === undefined) return timeline;
  const { status, error } = fact.payload;
  const text = error === undefined ? status : `${status}: ${error.message}`;
  const data = { ...fact.payload, ms: msBetween(timeline.turn.at, fact.at) };
  const ended = add(timeline, fact, `end-${fact.seq}`, text, { role: 'end', data });
  let { settled } = ended;
  for (const entry of ended.open) settled = settled.append(entry);
  return { ...ended, settled, open: AppendList.of<Entry>(), turn: undefined };
}

/** A stopped turn is open again. */
export function resumeTurn(timeline: Timeline, fact: FactOf<'cancel.resume'>): Timeline {
  const turn = timeline.turn ?? { number: timeline.turns, at: fact.at };
  return notice({ ...timeline, turn }, fact, 'resume', 'The stopped turn goes on.', fact.payload.by);
}
