import { digest } from '../base/digest.ts';
import { toJson } from '../base/json.ts';
import { isPromise } from '../base/promise.ts';
import { isBlank } from '../base/text.ts';
import type { Draft, FactPayload } from '../domain/event.ts';
import type { Answers, RequestType } from '../kernel/bus.ts';
import type { AsidePurpose } from '../domain/aside.ts';
import { askModel } from './ask-model.ts';
import { inTurn, isOver, onOver, openTurn, type Work } from './work.ts';

/** Ask a planner, and a person where the bundle wants it. */
export async function plan(work: Work): Promise<void> {
  const turn = openTurn(work);
  const input = turn.inputs.map((one) => one.text).join('\n\n');
  if (turn.plan === 'none') await state(work, [inTurn(turn, 'plan.request', { input })]);
  const result = await serve(work, 'plan.request', { input }, (error) => ({ steps: [], source: 'loop', error }));
  if (result.error !== undefined && isOver(work)) return; // whoever goes on asks again
  const approval = turn.agent.planning?.approval ?? 'never';
  const drafts: Draft[] = [inTurn(openTurn(work), 'plan.result', result)];
  // Where a planner has not said that nobody need be asked, somebody is.
  const asks = approval === 'always' || (approval === 'auto' && result.asks !== false);
  if (result.error === undefined && asks) {
    const question = `Go on with this plan?\n${result.steps.map((step, index) => `${index + 1}. ${step.title}`).join('\n')}`;
    drafts.push(
      inTurn(openTurn(work), 'hitl.requested', {
        request: `${turn.id}-plan`,
        kind: 'plan',
        question,
        argumentHash: digest(toJson(result.steps)),
        choices: ['allow', 'reject', 'edit'],
      }),
    );
  }
  await state(work, drafts);
}

/** Ask for older turns to be replaced by a summary. Without a plugin that can, the turn goes on and says so. */
export async function compact(work: Work, why: FactPayload<'memory.compact.request'>['why']): Promise<void> {
  const turn = openTurn(work);
  if (turn.compaction !== 'requested') await state(work, [inTurn(turn, 'memory.compact.request', { why })]);
  const result = await serve(work, 'memory.compact.request', { why }, (error) => ({ through: 0, summary: '', error }));
  if (result.error !== undefined && isOver(work)) return; // whoever goes on asks again
  // Turns are cut whole, and never the one in work: a summary cannot split an action from its observation.
  const through = Math.min(result.through, turn.number - 1);
  const empty = result.error === undefined && isBlank(result.summary) ? { error: 'the summary is empty' } : {};
  await state(work, [inTurn(openTurn(work), 'memory.compacted', { ...result, ...empty, through })]);
}

const PURPOSES: Readonly<Record<RequestType, AsidePurpose>> = {
  'plan.request': 'plan',
  'memory.compact.request': 'compact',
};

async function serve<R extends RequestType>(
  work: Work,
  request: R,
  payload: FactPayload<R>,
  failed: (error: string) => Answers[R],
): Promise<Answers[R]> {
  const answerer = work.ports.bus.answerer(request);
  if (answerer === undefined) return failed(`no active plugin answers ${request}`);
  const controller = new AbortController();
  const off = onOver(work, () => controller.abort());
  try {
    const given = answerer(payload, {
      conversation: work.recorder.conversation,
      signal: controller.signal,
      askModel: (prompt) => askModel(work, PURPOSES[request], prompt),
    });
    return isPromise(given) ? await given : given;
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  } finally {
    off();
  }
}

async function state(work: Work, drafts: readonly Draft[]): Promise<void> {
  const stated = work.recorder.record(drafts);
  if (isPromise(stated)) await stated;
}
