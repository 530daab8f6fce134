import { isPromise } from '../base/promise.ts';
import { announce } from '../assembly/announce.ts';
import { coldFinding, withCheckpoints, type CacheIntent } from '../assembly/cache.ts';
import { render } from '../assembly/render.ts';
import { nextIteration, type Turn } from '../domain/conversation.ts';
import { streamedId } from '../domain/entry-id.ts';
import type { Draft, FactPayload } from '../domain/event.ts';
import type { ModelRequest } from '../domain/model.ts';
import type { Questions } from '../kernel/verdict.ts';
import { judgeResponse } from './judge-response.ts';
import { converse, type Exchange } from './exchange.ts';
import type { Heard, Piece } from './listen.ts';
import { mask, repaired, widening, withNotes } from './revised-request.ts';
import type { Backoff, Command } from './command.ts';
import { chooseTool, type Chosen } from './tool-choice.ts';
import {
  answered,
  inTurn,
  isOver,
  onInterrupt,
  openTurn,
  pause,
  tell,
  wantsToStop,
  verdictDrafts,
  type Work,
} from './work.ts';

type CallModel = Extract<Command, { type: 'call_model' }>;
type Question = Questions['before:llm.request'];

const BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 60_000;

/** Ask the gates, state the intent, call the model, state what it said. */
export async function callModel(work: Work, command: CallModel): Promise<void> {
  if (command.backoff !== undefined) {
    tell(work, 'io.status', { state: 'waiting', detail: 'the model is busy; trying again' });
    await pause(work, delayOf(command.backoff, work.ports.ids.fraction()));
    if (isOver(work)) return; // a steer only ends the wait: this call reads it
  }
  const turn = openTurn(work);
  const { conversation } = work.recorder;
  const chosen: Chosen | undefined = command.wrapUp ? { choice: { mode: 'none' }, rule: 'static' } : chooseTool(turn);
  const request = render(conversation, turn, {
    model: command.model,
    announce: announce(conversation, work.ports.clock.now(), work.ports.blocks),
    toolChoice: chosen?.choice,
  });
  const iteration = nextIteration(turn);
  const question: Question = {
    request,
    iteration,
    attempt: command.attempt,
    notes: [],
    ...(command.wrapUp ? { purpose: 'wrap_up' as const } : {}),
  };
  const asked = work.ports.bus.ask('before:llm.request', question, { conversation, agent: turn.agent }, (revised) =>
    widening(revised, request),
  );
  const judged = isPromise(asked) ? await answered(work, asked) : asked;
  const verdicts = verdictDrafts(turn, 'before:llm.request', judged.verdicts);
  if (judged.outcome !== 'allow') {
    // Nobody can be asked about a model call: a hold that is not an approval of an action is a no.
    const held =
      judged.outcome === 'hold'
        ? [
            inTurn(turn, 'gate.verdict', {
              question: 'before:llm.request',
              gate: judged.holds[0]?.gate ?? 'gate',
              verdict: 'deny',
              reason: judged.holds[0]?.question,
              code: 'gate_held',
            }),
          ]
        : [];
    await work.recorder.record([...verdicts, ...held]);
    return;
  }
  const isRevised = judged.payload.request.messages !== request.messages;
  const noted = withNotes(isRevised ? repaired(judged.payload) : judged.payload);
  const { conversation: latest } = work.recorder;
  const cached = withCheckpoints(latest, openTurn(work), noted, work.ports.clock.now(), isRevised);
  const final = cached.request;
  const seen = toldIn(turn);
  const intent = inTurn(
    turn,
    'llm.request',
    requestPayload(turn, final, cached.intent, judged.payload, command, chosen),
  );
  const stated = work.recorder.record([...verdicts, { ...intent, iteration }], {
    // Something was said meanwhile: it belongs into this call, so it is made up anew. Who lets go begins none.
    unless: (now) =>
      work.signal?.aborted === true ||
      now.turn === undefined ||
      now.turn.cancel !== 'none' ||
      toldIn(now.turn) !== seen,
  });
  const facts = isPromise(stated) ? await stated : stated;
  if (facts === undefined) return;
  tell(work, 'io.status', { state: 'thinking' });
  const spoken = await converse(work, final, {
    iteration,
    onDelta: teller(work, iteration, command.attempt),
    watch: onInterrupt,
  });
  const asJudged = judgeResponse(work, spoken, command.wrapUp ? 'wrap_up' : undefined);
  const { heard, verdicts: said } = isPromise(asJudged) ? await asJudged : asJudged;
  const isKept =
    heard.failure?.class === 'aborted' &&
    wantsToStop(work.recorder.conversation) &&
    !isSilent(work) &&
    heard.content.some((one) => one.type === 'text' && one.text.trim() !== '');
  tell(work, 'llm.stream.end', { attempt: command.attempt, superseded: heard.failure !== undefined && !isKept });
  const drafts = responseDrafts(openTurn(work), heard, { attempt: command.attempt, isKept }, facts.at(-1)?.id);
  const cold =
    heard.failure === undefined
      ? coldFinding(work.recorder.conversation, turn, final, cached.digests, heard.usage, facts.at(-1)?.at ?? 0)
      : undefined;
  drafts.push(...verdictDrafts(openTurn(work), 'before:llm.response', said));
  if (cold !== undefined) drafts.push(inTurn(openTurn(work), 'cache.cold', cold, facts.at(-1)?.id));
  const told = work.recorder.keep(drafts);
  if (isPromise(told)) await told;
}

/** How much people and services have told in this turn that a prompt made now would hold. */
function toldIn({ inputs, pending, events, current }: Turn): number {
  return (
    inputs.length + pending.length + events.length + (current?.events?.length ?? 0) + (current?.heard?.length ?? 0)
  );
}

/** Tells whoever listens each piece of a decision as it arrives. Undefined when nobody does. */
function teller(work: Work, iteration: number, attempt: number): Exchange['onDelta'] {
  const turn = openTurn(work);
  const { bus } = work.ports;
  if (!bus.isHeard('llm.stream.chunk')) return undefined;
  const silent = isSilent(work);
  const isHidden = bus.isGated('before:llm.response', 'deeply');
  const cuts = attempt === 1 ? 0 : (turn.current?.attempts.filter((one) => one.kept === true).length ?? 0);
  let entry = '';
  let entryOf: Pick<Piece, 'kind' | 'ordinal'> | undefined; // most pieces are of the same entry as the one before
  return (piece: Piece): void => {
    const { part, kind, name, ordinal, delta } = piece;
    if (isHidden || (kind === 'text' && silent)) return;
    if (entryOf?.kind !== kind || entryOf.ordinal !== ordinal)
      entry = streamedId(kind, turn.id, iteration, ordinal, cuts);
    entryOf = piece;
    const chunk = { part, kind, entry, attempt, delta };
    tell(work, 'llm.stream.chunk', name === undefined ? chunk : { ...chunk, name });
  };
}

/** What a gate may still refuse has not been said: text is held back while gates look at what was said. */
function isSilent(work: Work): boolean {
  const { bus } = work.ports;
  const isGated = bus.isGated('before:io.output') || bus.isGated('before:llm.response');
  return isGated || openTurn(work).agent.grammar === 'json';
}

function requestPayload(
  turn: Turn,
  final: ModelRequest,
  cache: CacheIntent,
  question: Question,
  command: CallModel,
  chosen: Chosen | undefined,
): FactPayload<'llm.request'> {
  const payload: FactPayload<'llm.request'> = {
    model: { provider: final.model.provider, model: final.model.model },
    role: turn.agent.role,
    attempt: command.attempt,
    ...cache,
  };
  if (command.wrapUp) payload.purpose = 'wrap_up';
  if (final.toolChoice !== undefined && chosen !== undefined)
    Object.assign(payload, { choice: final.toolChoice, rule: chosen.rule });
  if (final.announce !== undefined) payload.announce = final.announce;
  const allowed = mask(final, turn);
  if (allowed !== undefined) payload.allowed = allowed;
  if (question.notes.length > 0) payload.notes = [...question.notes];
  return payload;
}

function responseDrafts(
  turn: Turn,
  heard: Heard,
  { attempt, isKept }: { readonly attempt: number; readonly isKept: boolean },
  causedBy: string | undefined,
): Draft[] {
  const payload: FactPayload<'llm.response'> = {
    content: heard.content,
    stop: heard.stop,
    usage: heard.usage,
    attempt,
  };
  if (heard.raw !== undefined) payload.raw = heard.raw;
  if (heard.served !== undefined) payload.served = heard.served;
  if (heard.providerId !== undefined) payload.providerId = heard.providerId;
  if (heard.opaque !== undefined) payload.opaque = heard.opaque;
  if (heard.failure !== undefined) payload.failure = heard.failure;
  if (isKept) payload.kept = true;
  const thoughts =
    heard.failure === undefined
      ? heard.thoughts.map((thought) => inTurn(turn, 'thinking.step', thought, causedBy))
      : [];
  return [...thoughts, inTurn(turn, 'llm.response', payload, causedBy)];
}

function delayOf({ step, retryAfterMs }: Backoff, fraction: number): number {
  const jitter = 0.5 + fraction / 2;
  const own = Math.min(LONGEST_BACKOFF_MS, BACKOFF_MS * 2 ** (step - 1)) * jitter;
  return Math.max(own, Math.min(retryAfterMs ?? 0, LONGEST_BACKOFF_MS));
}
