import { LazyAbort } from '../base/lazy-abort.ts';
import { TreadleError } from '../base/errors.ts';
import { toJson, type JsonObject } from '../base/json.ts';
import { isPromise, type MaybePromise } from '../base/promise.ts';
import { head } from '../base/text.ts';
import type { Part } from '../domain/content.ts';
import type { FactPayload } from '../domain/event.ts';
import type { Observation } from '../domain/tool.ts';
import type { ToolContext } from '../kernel/running-tool.ts';
import { isToolReturn } from '../kernel/tool.ts';
import { deadlineOf } from './prepare.ts';
import { type Ready } from './prepared.ts';
import { fit } from './size.ts';
import { toolContext } from './tool-context.ts';
import { onStop, openTurn, tell, type Work } from './work.ts';

export type Ran =
  | {
      readonly type: 'observed';
      readonly observation: Observation;
      /** What enters the conversation with it. */
      readonly skill?: FactPayload<'skill.loaded'>;
      readonly loads?: readonly string[];
    }
  | {
      readonly type: 'ask';
      readonly question: string;
      readonly choices?: readonly string[];
      readonly consent?: { readonly account: string; readonly claims: readonly string[] };
    }
  | { readonly type: 'wait'; readonly ticket: string; readonly note?: string; readonly expiresInMs?: number }
  | { readonly type: 'delegate'; readonly agent: string; readonly task: string }
  /** A program that waits with what it has asked for. */
  | { readonly type: 'parked' };

/** Milliseconds that a tool gets to stop by itself once it was told to. */
const GRACE_MS = 2_000;

/**
 * Run one tool under a deadline and a signal. Whatever it returns, throws or never does becomes one observation.
 *
 * Answers without a promise when the tool does. A result that comes after the tool was given up is ignored.
 */
export function runTool(work: Work, ready: Ready, calls?: Pick<ToolContext, 'call' | 'program'>): MaybePromise<Ran> {
  const turn = openTurn(work);
  const { tool, state } = ready;
  const abort = new LazyAbort();
  const said: string[] = [];
  let over = false;
  const context = toolContext(work, state.action.id, {
    abort,
    ...calls,
    reply: ready.reply,
    progress(report) {
      if (over) return;
      if (report.text !== undefined) said.push(report.text);
      tell(work, 'tool.progress', { action: state.action.id, ...report });
    },
  });
  const done = (ran: Ran): MaybePromise<Ran> => {
    over = true;
    if (ran.type !== 'observed') return ran;
    const fitted = fit(ran.observation, turn.agent.limits.maxResultBytes, (body) =>
      work.ports.log.writeBody(work.meta.id, body),
    );
    const observed = (observation: Observation): Ran => ({ ...ran, observation });
    return isPromise(fitted) ? fitted.then(observed) : observed(fitted);
  };
  let returned: unknown;
  try {
    returned = begin(ready, context);
  } catch (error) {
    return done(thrown(error));
  }
  if (!isPromise(returned)) return done(read(returned, ready));
  const timeoutMs = ready.timeoutMs ?? deadlineOf(tool, turn);
  return bounded(work, returned, timeoutMs, abort).then((end) => {
    switch (end.type) {
      case 'returned':
        return done(read(end.value, ready));
      case 'threw':
        return done(abort.aborted ? givenUp(end.why ?? 'cancelled', ready, said, timeoutMs) : thrown(end.error));
      case 'given_up':
        return done(givenUp(end.why, ready, said, timeoutMs));
    }
  });
}

function begin({ tool, args, state, probe }: Ready, context: ToolContext): unknown {
  // validate() has said that the arguments are what the schema wants, which is an object.
  if (!probe || tool.probe === undefined) return tool.run(args as JsonObject, context);
  const found = tool.probe(context.idempotencyKey, context);
  const orRun = (known: unknown): unknown =>
    known === undefined ? tool.run(state.begun?.arguments as JsonObject, context) : known; // as above
  return isPromise(found) ? found.then(orRun) : orRun(found);
}

type End =
  | { readonly type: 'returned'; readonly value: unknown }
  | { readonly type: 'threw'; readonly error: unknown; readonly why?: Why }
  | { readonly type: 'given_up'; readonly why: Why };
type Why = 'timeout' | 'cancelled';

/** The tool's end, or ours: at the deadline at once, on a cancel after a grace time in which it may still finish. */
function bounded(work: Work, running: Promise<unknown>, timeoutMs: number, abort: LazyAbort): Promise<End> {
  return new Promise((resolve) => {
    let why: Why | undefined;
    let releaseGrace: (() => void) | undefined;
    const releaseDeadline = timeoutMs === 0 ? undefined : work.ports.clock.after(timeoutMs, () => giveUp('timeout'));
    // A worker that lets go waits for its tools: what they did must be recorded by somebody.
    const off = onStop(work, () => {
      why = 'cancelled';
      abort.abort();
      releaseGrace = work.ports.clock.after(GRACE_MS, () => giveUp('cancelled'));
    });
    const settle = (end: End): void => {
      releaseDeadline?.();
      releaseGrace?.();
      off();
      resolve(end);
    };
    const giveUp = (reason: Why): void => {
      abort.abort();
      settle({ type: 'given_up', why: reason });
    };
    running.then(
      (value) => settle({ type: 'returned', value }),
      (error: unknown) => settle(why === undefined ? { type: 'threw', error } : { type: 'threw', error, why }),
    );
  });
}

/** What the tool returned: a plain value, parts, a failure, or a question for a person. */
function read(value: unknown, { tool }: Ready): Ran {
  if (value === undefined) return { type: 'observed', observation: { outcome: 'ok', value: null } };
  if (!isToolReturn(value)) return { type: 'observed', observation: { outcome: 'ok', value: toJson(value) } };
  switch (value.kind) {
    case 'failure': {
      const error = { code: value.code, message: value.message.toWellFormed() };
      const said = value.value === undefined ? {} : { value: toJson(value.value) };
      if (value.uncertain !== true || tool.definition.effect !== 'once') {
        return { type: 'observed', observation: { outcome: 'failed', ...said, error } };
      }
      const message = `${error.message} It may have happened all the same: check before you repeat it.`;
      return { type: 'observed', observation: { outcome: 'unknown', ...said, error: { ...error, message } } };
    }
    case 'ask':
      return {
        type: 'ask',
        question: value.question,
        ...(value.choices === undefined ? {} : { choices: value.choices }),
        ...(value.consent === undefined ? {} : { consent: value.consent }),
      };
    case 'wait': {
      const { ticket, note, expiresInMs } = value;
      return {
        type: 'wait',
        ticket: ticket.toWellFormed(),
        ...(note !== undefined && { note: note.toWellFormed() }),
        ...(expiresInMs !== undefined && { expiresInMs }),
      };
    }
    case 'delegate':
      return { type: 'delegate', agent: value.agent, task: value.task.toWellFormed() };
    case 'parked':
      return { type: 'parked' };
    case 'recorded': {
      const { kind: _, ...recorded } = value;
      return { type: 'observed', ...recorded };
    }
    case 'result': {
      const observation: Observation = { outcome: 'ok' };
      if (value.value !== undefined) observation.value = toJson(value.value);
      if (value.content !== undefined) observation.content = toJson(value.content) as unknown as Part[]; // parts are JSON by type
      return {
        type: 'observed',
        observation:
          observation.value === undefined && observation.content === undefined
            ? { ...observation, value: tool.definition.name }
            : observation,
        ...(value.skill === undefined ? {} : { skill: value.skill }),
        ...(value.loads === undefined ? {} : { loads: value.loads }),
      };
    }
  }
}

function thrown(error: unknown): Ran {
  const message = (error instanceof Error ? error.message : JSON.stringify(toJson(error))).toWellFormed();
  return {
    type: 'observed',
    observation: {
      outcome: 'failed',
      error: {
        code: TreadleError.is(error) ? error.code : 'tool_failed',
        message: message === '' ? 'the tool failed without saying why' : message,
      },
    },
  };
}

/** Stopped before it was done. Of a tool that writes once nobody can say whether it happened. */
function givenUp(why: Why, { tool }: Ready, said: readonly string[], timeoutMs: number): Ran {
  const unknown = tool.definition.effect === 'once';
  const message =
    why === 'timeout'
      ? `No result within ${timeoutMs} ms.${unknown ? ' It may still have happened: check before you repeat it.' : ''}`
      : `Stopped by the user.${unknown ? ' It may have happened all the same.' : ''}`;
  const observation: Observation = {
    outcome: unknown ? 'unknown' : why === 'timeout' ? 'failed' : 'cancelled',
    error: { code: why, message },
  };
  if (said.length > 0) observation.content = [{ type: 'text', text: head(said.join('\n'), 4_096).toWellFormed() }];
  return { type: 'observed', observation };
}
