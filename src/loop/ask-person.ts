import { isPromise, type MaybePromise } from '../base/promise.ts';
import type { AllowanceOffer } from '../domain/allowance.ts';
import type { Part } from '../domain/content.ts';
import type { HeldRequest, Turn } from '../domain/conversation.ts';
import type { Draft, FactPayload } from '../domain/event.ts';
import type { Judgement, Questions } from '../kernel/verdict.ts';
import { previewOf } from './ask-tool.ts';
import { observation, type Ready, type Settled } from './prepared.ts';
import { answered, inTurn, verdictDrafts, type Work } from './work.ts';

/** An answer satisfies the holds it was asked for, on exactly the arguments it was given for. No answer is never consent. */
export function consented(
  request: HeldRequest | undefined,
  gates: readonly string[],
  argumentHash: string,
  editedBy: string | undefined,
): boolean {
  if (request?.answer === undefined) return false;
  const known = new Set(request.gate?.split(', '));
  if (!gates.every((gate) => known.has(gate))) return false;
  if (editedBy !== undefined) return true; // the person wrote these arguments; every gate has judged them
  return request.answer.decision === 'allow' && request.argumentHash === argumentHash;
}

/** Holds the action and asks for an approval, unless a gate of the asking refuses that. */
export function askPerson(
  work: Work,
  turn: Turn,
  { state, tool }: Pick<Ready, 'state' | 'tool'>,
  judged: Judgement<Questions['before:tool.invoke']>,
  {
    verdicts,
    argumentHash,
    gates,
    offer,
  }: {
    readonly verdicts: readonly Draft[];
    readonly argumentHash: string;
    readonly gates: readonly string[];
    readonly offer: AllowanceOffer | undefined;
  },
): MaybePromise<Settled> {
  const id = state.action.id;
  const expiries = judged.holds.flatMap((one) => (one.expiresInMs === undefined ? [] : [one.expiresInMs]));
  const payload: FactPayload<'hitl.requested'> = {
    request: `${id}-a${turn.requests.filter((one) => one.action === id).length + 1}`,
    kind: 'action',
    question: judged.holds.map((one) => one.question).join('\n'),
    action: id,
    arguments: judged.payload.arguments,
    argumentHash,
    gate: gates.join(', '),
  };
  if (expiries.length > 0) payload.deadline = work.ports.clock.now() + Math.min(...expiries);
  if (offer !== undefined) payload.allowance = offer;
  const shown = previewOf(work, id, tool, judged.payload.arguments);
  if (isPromise(shown)) return answered(work, shown).then((parts) => ask(parts));
  return ask(shown);

  function ask(parts: readonly Part[]): MaybePromise<Settled> {
    if (parts.length > 0) payload.preview = [...parts];
    const asked = work.ports.bus.ask('before:hitl.requested', payload, {
      conversation: work.recorder.conversation,
      agent: turn.agent,
    });
    const settle = (answer: Judgement<FactPayload<'hitl.requested'>>): Settled => {
      const said = [...verdicts, ...verdictDrafts(turn, 'before:hitl.requested', answer.verdicts, id)];
      if (answer.outcome === 'allow')
        return {
          type: 'settled',
          drafts: [
            ...said,
            inTurn(turn, 'hitl.requested', {
              ...answer.payload,
              request: payload.request,
              action: id,
              arguments: judged.payload.arguments,
              argumentHash,
              ...(payload.preview !== undefined && { preview: payload.preview }),
              ...(offer !== undefined && { allowance: offer }),
            }),
          ],
        };
      const refusal = observation(
        'refused',
        answer.denial?.code ?? 'gate_denied',
        answer.denial?.reason ?? `${tool.definition.name} needs an approval that cannot be asked for`,
      );
      return { type: 'settled', drafts: [...said, inTurn(turn, 'tool.result', { action: id, ...refusal })] };
    };
    return isPromise(asked) ? answered(work, asked).then(settle) : settle(asked);
  }
}
