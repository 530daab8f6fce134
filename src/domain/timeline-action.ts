import { msBetween } from '../base/clock.ts';
import type { ActionData, Asked } from './entry.ts';
import type { Fact, FactOf } from './event.ts';
import { editedSteps, keepsPlan, stepsAfter } from './plan.ts';
import { add, revise, type Timeline } from './timeline-edit.ts';

/** Changes an action's entry. Undefined when there is none; the same data is no change. */
export function inAction(
  timeline: Timeline,
  fact: Fact,
  id: string,
  change: (data: ActionData) => ActionData,
): Timeline | undefined {
  return revise(timeline, fact, (entry) => {
    if (entry.role !== 'action' || entry.id !== id) return undefined;
    const data = change(entry.data);
    if (data === entry.data) return entry;
    return { ...entry, text: `${data.name}: ${data.observation?.outcome ?? data.state}`, data };
  });
}

export function begin(timeline: Timeline, fact: FactOf<'tool.invoke'>): Timeline {
  const { action, name, arguments: given, effect, revisedBy, allowedBy } = fact.payload;
  if (fact.payload.parent !== undefined) {
    const inner = { id: action, name, arguments: given };
    const told = (data: ActionData): ActionData => ({ ...data, inner: [...(data.inner ?? []), inner] });
    return inAction(timeline, fact, fact.payload.parent, told) ?? timeline;
  }
  const begun = inAction(timeline, fact, action, (data) => ({
    ...data,
    arguments: given,
    effect,
    state: 'running',
    startedAt: fact.at,
    ...(revisedBy !== undefined && { revisedBy, askedFor: data.arguments }),
    ...(allowedBy !== undefined && { allowedBy }),
  }));
  return begun ?? timeline;
}

export function observe(timeline: Timeline, fact: FactOf<'tool.result'>): Timeline {
  const { action, parent, ...observation } = fact.payload;
  if (parent !== undefined) {
    // One that was refused has not begun, and stands among the verdicts.
    const told = (data: ActionData): ActionData => ({
      ...data,
      inner: (data.inner ?? []).map((one) => (one.id === action ? { ...one, outcome: observation.outcome } : one)),
    });
    return inAction(timeline, fact, parent, told) ?? timeline;
  }
  const observed = inAction(timeline, fact, action, (data) => {
    if (data.state === 'done') return data;
    return {
      ...data,
      state: 'done',
      observation,
      ...(data.startedAt !== undefined && { ms: msBetween(data.startedAt, fact.at) }),
    };
  });
  if (observed === undefined) return timeline;
  return observation.outcome === 'ok' ? follow(observed, fact, action) : observed;
}

/** An action that keeps the plan changes the plan's entry, too. */
function follow(timeline: Timeline, fact: Fact, id: string): Timeline {
  const entry = [...timeline.open].findLast((one) => one.role === 'action' && one.id === id);
  if (entry?.role !== 'action' || !keepsPlan(entry.data.name)) return timeline;
  const { name, arguments: given } = entry.data;
  const followed = revise(timeline, fact, (one) => {
    if (one.role !== 'plan') return undefined;
    const steps = stepsAfter(one.data.steps, name, given);
    return steps === undefined ? one : { ...one, data: { ...one.data, steps } };
  });
  return followed ?? timeline;
}

/** A person is asked: on the card of the action or plan that it is about, else as a line of its own. */
export function ask(timeline: Timeline, fact: FactOf<'hitl.requested'>): Timeline {
  const { kind, action: asking, parent, question } = fact.payload;
  const action = parent ?? asking;
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
  if (known !== undefined) return known;
  return add(timeline, fact, `notice-${fact.seq}`, question, {
    role: 'notice',
    data: { kind: 'question', requests: [asked] },
  });
}

function isUnanswered({ answer, cancelled }: Asked): boolean {
  return answer === undefined && cancelled === undefined;
}

/** The first word counts, as in the fold that decides. */
export function settle(
  timeline: Timeline,
  fact: Fact,
  id: string,
  change: Pick<Asked, 'answer' | 'answeredAt' | 'cancelled'>,
): Timeline {
  const isOpen = (one: Asked): boolean => one.request === id && isUnanswered(one);
  const settled = (requests: readonly Asked[]): readonly Asked[] =>
    requests.map((one) => (isOpen(one) ? { ...one, ...change } : one));
  const changed = revise(timeline, fact, (entry) => {
    switch (entry.role) {
      case 'action': {
        if (!entry.data.requests.some(isOpen)) return undefined;
        return {
          ...entry,
          data: {
            ...entry.data,
            state: settled(entry.data.requests).some(isUnanswered)
              ? 'waiting'
              : entry.data.startedAt === undefined
                ? 'asked'
                : 'running',
            requests: settled(entry.data.requests),
          },
        };
      }
      case 'plan': {
        if (!entry.data.requests.some(isOpen)) return undefined;
        const { decision, arguments: given, by } = change.answer ?? {};
        const steps = decision === 'edit' ? editedSteps(given) : undefined;
        const edited = steps === undefined || by === undefined ? {} : { steps, editedBy: by };
        return { ...entry, data: { ...entry.data, ...edited, requests: settled(entry.data.requests) } };
      }
      case 'notice':
        return entry.data.requests?.some(isOpen) === true
          ? { ...entry, data: { ...entry.data, requests: settled(entry.data.requests) } }
          : undefined;
      default:
        return undefined;
    }
  });
  return changed ?? timeline;
}
