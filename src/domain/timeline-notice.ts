import type { NoticeKind } from './entry.ts';
import type { Fact, FactOf } from './event.ts';
import { inAction } from './timeline-action.ts';
import { add, type Timeline } from './timeline-edit.ts';

/** Something that happened beside the work: one line, in words. */
export function notice(timeline: Timeline, fact: Fact, kind: NoticeKind, text: string, by?: string): Timeline {
  const data = by === undefined ? { kind } : { kind, by };
  return add(timeline, fact, `notice-${fact.seq}`, text, { role: 'notice', data });
}

/** What a gate said: on the action's card, else a line of its own. */
export function judge(timeline: Timeline, fact: FactOf<'gate.verdict'>): Timeline {
  const { payload } = fact;
  const { action, gate, verdict, question, reason } = payload;
  const known =
    action === undefined
      ? undefined
      : inAction(timeline, fact, action, (data) => ({ ...data, verdicts: [...data.verdicts, payload] }));
  if (known !== undefined) return known;
  // What a gate does to every call, such as taking tools out, is on record and no news.
  if (verdict === 'revise' && question === 'before:llm.request' && reason === undefined) return timeline;
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
  'before:llm.response': 'what the model said',
  'before:tool.invoke': 'the action',
  'before:tool.result': 'the result',
  'before:hitl.requested': 'the question to a person',
  'before:io.output': 'the answer',
};
