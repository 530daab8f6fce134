import { msBetween } from '../base/clock.ts';
import { isAside } from './aside.ts';
import { decode } from './decision.ts';
import { unwraps } from './deferred.ts';
import type { ActionData, CallAttempt, CallData } from './entry.ts';
import { providerId, spokenId, thoughtId } from './entry-id.ts';
import type { FactOf } from './event.ts';
import type { Block } from './model.ts';
import { providerActs } from './provider-search.ts';
import { add, addNamed, revise, type Timeline } from './timeline-edit.ts';
import type { Observation } from './tool.ts';
import { addUsage } from './usage-sum.ts';

/** A model call begins, or begins again. */
export function call(timeline: Timeline, fact: FactOf<'llm.request'>): Timeline {
  const { attempt, model, purpose } = fact.payload;
  const begun: CallAttempt = { ...model, at: fact.at };
  if (attempt > 1) {
    const again = revise(timeline, fact, (entry) =>
      entry.role === 'call' && entry.data.state === 'open' && entry.data.purpose === purpose
        ? { ...entry, text: modelName(begun), data: { ...entry.data, attempts: [...entry.data.attempts, begun] } }
        : undefined,
    );
    if (again !== undefined) return again;
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

export function think(timeline: Timeline, fact: FactOf<'thinking.step'>): Timeline {
  const thought = (id: string): Timeline => addNamed(timeline, fact, id, fact.payload.text, { role: 'thinking' });
  if (timeline.turn === undefined || fact.iteration === undefined) return thought(`thought-${fact.seq}`);
  const turnId = `t${timeline.turn.number}`;
  const prefix = thoughtId(turnId, fact.iteration, 1).slice(0, -1);
  let before = 0;
  for (const one of timeline.open) if (one.role === 'thinking' && one.id.startsWith(prefix)) before++;
  return thought(thoughtId(turnId, fact.iteration, before + 1));
}

/** A model call is over: what it cost, and what was said and asked for. */
export function answered(before: Timeline, fact: FactOf<'llm.response'>): Timeline {
  const { failure, stop, usage, served, content, purpose } = fact.payload;
  const called = revise(before, fact, (entry) => {
    if (entry.role !== 'call' || entry.data.state !== 'open') return undefined;
    if (isAside(entry.data.purpose) !== isAside(purpose)) return undefined;
    const attempts = entry.data.attempts.map((one, index, all) =>
      index < all.length - 1
        ? one
        : { ...one, ms: msBetween(one.at, fact.at), ...(failure !== undefined && { failure }) },
    );
    const spent = { ...entry.data, attempts, usage: addUsage(entry.data.usage, usage) };
    if (failure !== undefined) return { ...entry, data: spent };
    return { ...entry, data: { ...spent, state: 'done', stop, ...(served !== undefined && { served }) } };
  });
  if (called === undefined) return before;
  if (called.turn === undefined || isAside(purpose)) return called;
  const turnId = `t${called.turn.number}`;
  const iteration = fact.iteration ?? 0;
  const timeline = failure === undefined ? searched(called, fact, turnId, iteration) : called;
  const spoken = (): string => spokenId(turnId, iteration, cutsIn(timeline, iteration));
  if (fact.payload.kept === true)
    return addNamed(timeline, fact, spoken(), textOf(content), {
      role: 'assistant',
      data: { final: false, cut: true },
    });
  if (failure !== undefined) return timeline;
  const decision = decode(content, timeline.grammar, turnId, iteration, unwraps(timeline));
  // An answer counts when the gates have let it go: it is told by `io.output`.
  if (decision.type !== 'actions') return timeline;
  const words = timeline.grammar === 'native' ? textOf(content) : '';
  let told =
    words.trim() === ''
      ? timeline
      : addNamed(timeline, fact, spoken(), words, { role: 'assistant', data: { final: false } });
  for (const action of decision.actions) {
    told = addNamed(told, fact, action.id, action.name, {
      role: 'action',
      data: { name: action.name, arguments: action.arguments, state: 'asked', verdicts: [], requests: [] },
    });
  }
  return told;
}

/** What the provider did by itself, beside what was asked for here and in the same form. */
function searched(before: Timeline, fact: FactOf<'llm.response'>, turnId: string, iteration: number): Timeline {
  let timeline = before;
  for (const [index, act] of providerActs(fact.payload.content).entries()) {
    const { arguments: given, results, failed } = act;
    const observation: Observation =
      failed === undefined
        ? { outcome: 'ok', value: { results: results.map((one) => ({ ...one })) } }
        : { outcome: 'failed', error: { code: 'provider', message: failed } };
    const data: ActionData = {
      ...{ name: 'web_search', by: 'provider', arguments: given, effect: 'read', state: 'done' },
      ...{ observation, verdicts: [], requests: [] },
    };
    const id = providerId(turnId, iteration, index + 1);
    timeline = addNamed(timeline, fact, id, `web_search: ${observation.outcome}`, { role: 'action', data });
  }
  return timeline;
}

/** The turn's answer, under the id of what was heard of it on the way. */
export function output(timeline: Timeline, fact: FactOf<'io.output'>): Timeline {
  const { turn } = timeline;
  const id =
    turn === undefined || fact.iteration === undefined
      ? `answer-${fact.seq}`
      : spokenId(`t${turn.number}`, fact.iteration, cutsIn(timeline, fact.iteration));
  return addNamed(timeline, fact, id, fact.payload.text, { role: 'assistant', data: { final: true } });
}

/** How often a person has cut the model short in an iteration of the open turn, which may have been stopped meanwhile. */
function cutsIn(timeline: Timeline, iteration: number): number {
  let cuts = 0;
  for (let place = timeline.settled.length + timeline.open.length - 1; place >= 0; place--) {
    const { length } = timeline.settled;
    const entry = place >= length ? timeline.open.at(place - length) : timeline.settled.at(place);
    if (entry?.turn !== undefined && entry.turn !== timeline.turn?.number) break;
    if (entry?.role === 'call' && entry.data.iteration < iteration && !isAside(entry.data.purpose)) break;
    if (entry?.role === 'assistant' && entry.data.cut === true) cuts++;
  }
  return cuts;
}

function textOf(content: readonly Block[]): string {
  let text = '';
  for (const one of content) if (one.type === 'text') text += one.text;
  return text;
}

function modelName({ provider, model }: Pick<CallAttempt, 'provider' | 'model'>): string {
  return `${provider} ${model}`;
}
