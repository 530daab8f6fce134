import type { LazyAbort } from '../base/lazy-abort.ts';
import type { Observation } from '../domain/tool.ts';
import { FetchRefusal } from '../kernel/fetch.ts';
import type { ToolContext } from '../kernel/ports.ts';
import { openTurn, type Work } from './work.ts';

interface Hands {
  readonly abort: LazyAbort;
  readonly progress: ToolContext['progress'];
  readonly reply?: string | undefined;
  readonly call?: ToolContext['call'] | undefined;
}

/** What a tool may touch of the loop. What its entry in the bundle grants besides is added by the platform. */
export function toolContext(work: Work, action: string, { abort, progress, reply, call = noCall }: Hands): ToolContext {
  return {
    conversationId: work.meta.id,
    userId: work.meta.userId,
    tenant: work.meta.tenant,
    turnId: openTurn(work).id,
    actionId: action,
    idempotencyKey: `${work.meta.id}/${action}`,
    get signal() {
      return abort.signal;
    },
    now: () => work.ports.clock.now(),
    progress,
    readBody: (ref) => work.ports.log.readBody(work.meta.id, ref),
    conversation: work.recorder.conversation,
    fetch: noFetch,
    secrets: NO_SECRETS,
    call,
    reply,
  };
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
