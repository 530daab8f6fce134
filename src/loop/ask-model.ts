import { shortDigest } from '../base/digest.ts';
import { isPromise } from '../base/promise.ts';
import type { AsidePurpose } from '../domain/aside.ts';
import { nextIteration, type Turn } from '../domain/conversation.ts';
import type { Draft, FactPayload } from '../domain/event.ts';
import type { ModelRequest } from '../domain/model.ts';
import type { AsideAnswer, AsidePrompt } from '../kernel/bus.ts';
import type { Questions } from '../kernel/verdict.ts';
import { converse } from './exchange.ts';
import { repaired, widening, withNotes } from './revised-request.ts';
import { judgeResponse } from './judge-response.ts';
import type { Heard } from './listen.ts';
import { answered, inTurn, isOver, onOver, openTurn, pause, verdictDrafts, type Work } from './work.ts';

const STOPPED = { ok: false, error: 'the turn is to stop' } as const satisfies AsideAnswer;

/**
 * A model call beside the decisions of the turn: ask the gates, state the intent, call, state what it said. The models of
 * the aside's role are tried in their order, each once.
 *
 * The answer is kept back and stated with what comes of it. Where it was stated alone and the process died, it is found in
 * the log by its question.
 */
export async function askModel(
  work: Work,
  purpose: AsidePurpose,
  { instructions, text }: AsidePrompt,
): Promise<AsideAnswer> {
  const turn = openTurn(work);
  const prompt = shortDigest(`${instructions}\n${text}`);
  const known = turn.asides.find((one) => one.prompt === prompt && one.text !== undefined);
  if (known?.text !== undefined) return { ok: true, text: known.text };
  const { role, models } = turn.agent.aside ?? turn.agent;
  let error = 'the agent has no model';
  for (const [index, model] of models.entries()) {
    if (isOver(work)) return STOPPED;
    const request: ModelRequest = {
      model,
      instructions,
      tools: [],
      messages: [{ role: 'user', synthetic: true, content: [{ type: 'text', text }] }],
      announce: undefined,
      toolChoice: undefined,
    };
    const judged = await judge(work, turn, {
      request,
      iteration: nextIteration(turn),
      attempt: index + 1,
      purpose,
      notes: [],
    });
    if ('denied' in judged) return { ok: false, error: judged.denied };
    const { heard, withheld } = await call(work, judged.question, { role, prompt });
    if (withheld !== undefined) return { ok: false, error: withheld };
    if (heard.failure === undefined && heard.stop === 'finished') {
      return { ok: true, text: heard.content.map((one) => (one.type === 'text' ? one.text : '')).join('') };
    }
    error = heard.failure?.message ?? `the model stopped before it was done (${heard.stop})`;
  }
  return isOver(work) ? STOPPED : { ok: false, error };
}

type Question = Questions['before:llm.request'] & { readonly purpose: AsidePurpose };

async function judge(
  work: Work,
  turn: Turn,
  question: Question,
): Promise<{ readonly question: Question } | { readonly denied: string }> {
  const { purpose } = question;
  const { conversation } = work.recorder;
  const asked = work.ports.bus.ask('before:llm.request', question, { conversation, agent: turn.agent }, (revised) =>
    widening(revised, question.request),
  );
  const judged = isPromise(asked) ? await answered(work, asked) : asked;
  const verdicts = ofAside(verdictDrafts(turn, 'before:llm.request', judged.verdicts), purpose);
  if (verdicts.length > 0) {
    const stated = work.recorder.record(verdicts);
    if (isPromise(stated)) await stated;
  }
  if (judged.outcome === 'allow') {
    const isRevised = judged.payload.request.messages !== question.request.messages;
    const asRevised = isRevised ? repaired(judged.payload) : judged.payload;
    return { question: { ...asRevised, request: withNotes(asRevised), purpose } };
  }
  const until = judged.denial?.retryAt;
  if (until !== undefined && !isOver(work)) {
    // An aside is part of a command that is under way: it waits here, and with the turn it is given up.
    await pause(work, until - work.ports.clock.now());
    return isOver(work) ? { denied: STOPPED.error } : judge(work, turn, question);
  }
  // Nobody can be asked about a model call: a hold is a no.
  const { gate, reason } = judged.denial ?? {
    gate: judged.holds[0]?.gate ?? 'a gate',
    reason: judged.holds[0]?.question ?? 'it wants to ask a person',
  };
  return { denied: `${gate}: ${reason}` };
}

async function call(
  work: Work,
  { request, iteration, attempt, purpose, notes }: Question,
  { role, prompt }: { readonly role: string; readonly prompt: string },
): Promise<{ readonly heard: Heard; readonly withheld: string | undefined }> {
  const { provider, model } = request.model;
  const payload: FactPayload<'llm.request'> = {
    model: { provider, model },
    role,
    attempt,
    purpose,
    sections: { prompt },
  };
  if (notes.length > 0) payload.notes = [...notes];
  const stated = work.recorder.record([{ ...inTurn(openTurn(work), 'llm.request', payload), iteration }]);
  const facts = isPromise(stated) ? await stated : stated;
  const spoken = await converse(work, request, { iteration, onDelta: undefined, watch: onOver });
  const asJudged = judgeResponse(work, spoken, purpose);
  const { heard, verdicts, withheld } = isPromise(asJudged) ? await asJudged : asJudged;
  const drafts = [
    response(openTurn(work), heard, attempt, purpose, facts?.at(-1)?.id),
    ...ofAside(verdictDrafts(openTurn(work), 'before:llm.response', verdicts), purpose),
  ];
  const kept = work.recorder.keep(drafts.map((one) => ({ ...one, iteration })));
  if (isPromise(kept)) await kept;
  const denied = verdicts.find((one) => one.verdict === 'deny');
  return { heard, withheld: withheld ? `${denied?.gate ?? 'a gate'}: ${denied?.reason ?? 'refused'}` : undefined };
}

/** What was said of an aside stops that aside alone. */
function ofAside(verdicts: readonly Draft[], purpose: AsidePurpose): Draft[] {
  return verdicts.map((one) => (one.type === 'gate.verdict' ? { ...one, payload: { ...one.payload, purpose } } : one));
}

/** Of what was said only the words are kept: nobody goes on from an aside. */
function response(
  turn: Turn,
  { content, stop, raw, usage, served, providerId, failure }: Heard,
  attempt: number,
  purpose: AsidePurpose,
  causedBy: string | undefined,
): Draft {
  const payload: FactPayload<'llm.response'> = {
    content: content.filter((one) => one.type === 'text'),
    stop,
    usage,
    attempt,
    purpose,
    ...(raw !== undefined && { raw }),
    ...(served !== undefined && { served }),
    ...(providerId !== undefined && { providerId }),
    ...(failure !== undefined && { failure }),
  };
  return inTurn(turn, 'llm.response', payload, causedBy);
}
