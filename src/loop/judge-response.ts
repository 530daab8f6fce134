import { isPromise, type MaybePromise } from '../base/promise.ts';
import { decode } from '../domain/decision.ts';
import type { Block } from '../domain/model.ts';
import type { GivenVerdict, Judgement, Questions } from '../kernel/verdict.ts';
import type { Heard } from './listen.ts';
import { answered, openTurn, type Work } from './work.ts';

type Said = Questions['before:llm.response'];

/** What a model said, as it will count. */
export interface Judged {
  readonly heard: Heard;
  readonly verdicts: readonly GivenVerdict[];
  /** A gate refused it, and its words are withheld. */
  readonly withheld: boolean;
}

/** Has the gates look at what a model said, before it is on record or shown. What failed was not said. */
export function judgeResponse(work: Work, heard: Heard, purpose: Said['purpose']): MaybePromise<Judged> {
  const { bus } = work.ports;
  const texts = heard.content.flatMap((one) => (one.type === 'text' ? [one.text] : []));
  if (heard.failure !== undefined || texts.length === 0 || !bus.isGated('before:llm.response'))
    return { heard, verdicts: [], withheld: false };
  const turn = openTurn(work);
  const decision = decode(heard.content, turn.agent.grammar, turn.id, turn.calls);
  const question: Said = { texts, isAnswer: decision.type === 'answer', ...(purpose !== undefined && { purpose }) };
  const asked = bus.ask(
    'before:llm.response',
    question,
    { conversation: work.recorder.conversation, agent: turn.agent },
    ({ texts: revised }) => misfit(revised, texts.length),
  );
  const judged = (judgement: Judgement<Said>): Judged => asJudged(heard, judgement);
  return isPromise(asked) ? answered(work, asked).then(judged) : judged(asked);
}

function asJudged(heard: Heard, { outcome, payload, denial, holds, verdicts }: Judgement<Said>): Judged {
  if (outcome === 'allow') return { heard: withTexts(heard, payload.texts), verdicts, withheld: false };
  // Nobody can be asked about what a model said: a hold is a no.
  const [held] = holds;
  const gate = denial?.gate ?? held?.gate ?? 'a gate';
  const reason = denial?.reason ?? held?.question ?? 'refused';
  const texts = payload.texts.map(() => `[withheld by ${gate}: ${reason}]`);
  const said =
    denial === undefined
      ? [...verdicts, { gate, verdict: 'deny' as const, reason, code: 'gate_held' }]
      : verdicts.map(({ retryAt: _, again: __, ...one }) => one);
  return { heard: withTexts(heard, texts), verdicts: said, withheld: true };
}

/** What a provider signed belongs to the words it signed: other words go without. */
function withTexts(heard: Heard, texts: readonly string[]): Heard {
  let place = 0;
  const content = heard.content.map((one): Block => {
    if (one.type !== 'text') return one;
    const text = texts[place++] ?? one.text;
    return text === one.text ? one : { type: 'text', text: text.toWellFormed() };
  });
  return { ...heard, content };
}

function misfit(texts: unknown, count: number): string | undefined {
  const fits = Array.isArray(texts) && texts.length === count && texts.every((one) => typeof one === 'string');
  return fits ? undefined : `its texts are not ${count} texts`;
}
