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
  if (!bus.isGated('before:llm.response')) return { heard, verdicts: [], withheld: false };
  // What nobody has judged is on no record either.
  if (heard.failure !== undefined)
    return { heard: { ...heard, content: [], thoughts: [] }, verdicts: [], withheld: false };
  const texts = heard.content.flatMap((one) => (one.type === 'text' ? [one.text] : []));
  const inputs = heard.content.flatMap((one) => (one.type === 'action' ? [one.input] : []));
  const thoughts = heard.thoughts.map(({ text }) => text);
  if (texts.length + inputs.length + thoughts.length === 0) return { heard, verdicts: [], withheld: false };
  const turn = openTurn(work);
  const decision = decode(heard.content, turn.agent.grammar, turn.id, turn.calls);
  const question: Said = {
    texts,
    thoughts,
    inputs,
    isAnswer: decision.type === 'answer',
    ...(purpose !== undefined && { purpose }),
  };
  const asked = bus.ask(
    'before:llm.response',
    question,
    { conversation: work.recorder.conversation, agent: turn.agent },
    (revised) =>
      misfit('texts', revised.texts, texts.length) ??
      misfit('thoughts', revised.thoughts, thoughts.length) ??
      misfit('inputs', revised.inputs, inputs.length),
  );
  const judged = (judgement: Judgement<Said>): Judged => asJudged(heard, judgement);
  return isPromise(asked) ? answered(work, asked).then(judged) : judged(asked);
}

function asJudged(heard: Heard, { outcome, payload, denial, holds, verdicts }: Judgement<Said>): Judged {
  if (outcome === 'allow') return { heard: withWords(heard, payload), verdicts, withheld: false };
  // Nobody can be asked about what a model said: a hold is a no.
  const [held] = holds;
  const gate = denial?.gate ?? held?.gate ?? 'a gate';
  const reason = denial?.reason ?? held?.question ?? 'refused';
  const mark = (): string => `[withheld by ${gate}: ${reason}]`;
  const words = { texts: payload.texts.map(mark), thoughts: payload.thoughts.map(mark), inputs: payload.inputs };
  const said =
    denial === undefined
      ? [...verdicts, { gate, verdict: 'deny' as const, reason, code: 'gate_held' }]
      : verdicts.map(({ retryAt: _, again: __, ...one }) => one);
  return { heard: withWords(heard, words), verdicts: said, withheld: true };
}

type Words = Pick<Said, 'texts' | 'thoughts' | 'inputs'>;

/** What a provider signed belongs to the words it signed: other words go without. */
function withWords(heard: Heard, { texts, thoughts, inputs }: Words): Heard {
  let spoken = 0;
  let asked = 0;
  const content = heard.content.map((one): Block => {
    switch (one.type) {
      case 'text': {
        const text = texts[spoken++] ?? one.text;
        return text === one.text ? one : { type: 'text', text: text.toWellFormed() };
      }
      case 'action': {
        const input = inputs[asked++] ?? one.input;
        // What is signed here is the thought before it, and a provider wants that back.
        return input === one.input ? one : { ...one, input: input.toWellFormed() };
      }
      default:
        return one;
    }
  });
  const thought = heard.thoughts.map((one, index) => {
    const text = thoughts[index] ?? one.text;
    return text === one.text ? one : { text: text.toWellFormed() };
  });
  return { ...heard, content, thoughts: thought };
}

function misfit(what: keyof Words, words: unknown, count: number): string | undefined {
  const fits = Array.isArray(words) && words.length === count && words.every((one) => typeof one === 'string');
  return fits ? undefined : `its ${what} are not ${count} texts`;
}
