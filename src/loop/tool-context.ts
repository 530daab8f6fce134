import type { LazyAbort } from '../base/lazy-abort.ts';
import type { Observation } from '../domain/tool.ts';
import { FetchRefusal } from '../kernel/fetch.ts';
import { Handed } from '../kernel/handed.ts';
import type { ToolContext } from '../kernel/running-tool.ts';
import { openTurn, type Work } from './work.ts';

interface Hands {
  readonly abort: LazyAbort;
  readonly progress: ToolContext['progress'];
  readonly reply?: string | undefined;
  readonly call?: ToolContext['call'] | undefined;
  readonly program?: ToolContext['program'] | undefined;
}

/** What a tool may touch of the loop. What its entry in the bundle grants besides is added by the platform. */
export function toolContext(work: Work, action: string, hands: Hands): ToolContext {
  const { abort, progress, reply, call = noCall, program } = hands;
  const { ports, meta, recorder } = work;
  const context = {
    conversationId: meta.id,
    userId: meta.userId,
    tenant: meta.tenant,
    turnId: openTurn(work).id,
    actionId: action,
    idempotencyKey: `${meta.id}/${action}`,
    now: () => ports.clock.now(),
    progress,
    readBody: (ref: string) => ports.log.readBody(meta.id, ref),
    conversation: recorder.conversation,
    fetch: noFetch,
    secrets: NO_SECRETS,
    call,
    program,
    reply,
  };
  return new Handed(context, abort);
}

const NO_SECRETS = Object.freeze({});

/** What was handed no way out has none. */
function noFetch(): Promise<never> {
  return Promise.reject(new FetchRefusal('this tool was not given the network'));
}

/** What was called by another tool calls none, and neither does what only looks. */
function noCall(): Promise<Observation> {
  const message = 'No tool can be called from here.';
  return Promise.resolve({ outcome: 'refused', error: { code: 'not_allowed', message } });
}
