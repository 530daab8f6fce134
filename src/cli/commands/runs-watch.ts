import { systemClock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import {
  ClientError,
  type Run,
  type RunEntry,
  type RunEvent,
  type RunRequest,
  type Snapshot,
} from '../../client/index.ts';
import { decide, questionLines } from '../approval.ts';
import { commandName } from '../command-name.ts';
import type { Context } from '../context.ts';
import { parseDuration } from '../drive-run.ts';
import { entryLines } from '../entry-lines.ts';
import { endOutcome, type Outcome } from '../exit-codes.ts';
import { linePerson } from '../line-person.ts';
import { shortId } from '../open.ts';
import { findRemoteRun, openClient, type RemoteOptions } from '../remote.ts';
import { asQuestion, requestLines } from '../request-lines.ts';
import { onSignals } from '../signals.ts';

export interface WatchOptions extends RemoteOptions {
  /** `ask` whoever sits here, `wait` and leave, or `stay` until somebody else has answered. */
  readonly onApproval?: 'ask' | 'wait' | 'stay';
  readonly timeout?: string;
}

/** Longer than anybody watches: what is waited for may take days. */
const GIVE_UP_MS = 365 * 24 * 3_600_000;

/** Prints what happens in a run, from its beginning until its end. Leaving stops nothing. */
export async function watch(context: Context, named: string, options: WatchOptions): Promise<Outcome> {
  const { terminal } = context;
  const { colors } = terminal;
  const policy = approvalPolicy(context, options);
  const client = openClient(context, options);
  const run = client.run(await findRemoteRun(client, named), { giveUpMs: GIVE_UP_MS });
  const leave = new AbortController();
  let cut: Outcome | undefined;
  const end = (why: Outcome) => (): void => {
    cut ??= why;
    leave.abort(new Error(why));
  };
  const unhear = onSignals({ interrupt: end('interrupted'), terminate: (why) => end(why)() });
  const unset =
    options.timeout === undefined
      ? undefined
      : systemClock.after(parseDuration(options.timeout, '--timeout'), end('timeout'));
  const print = (lines: readonly string[]): void => void terminal.out.write(lines.map((line) => `${line}\n`).join(''));
  try {
    for await (const event of run.events({ signal: leave.signal })) {
      if (options.json === true) print([JSON.stringify(event)]);
      else if (event.type === 'entry' && isSettled(event))
        print(entryLines(event.entry, run.entries(), { colors, columns: terminal.columns() }));
      if (event.type !== 'request') continue;
      if (policy !== 'ask' && options.json !== true)
        print(requestLines(event.request, run, { colors, columns: terminal.columns() }));
      if (policy === 'wait' || (policy === 'ask' && !(await ask(context, run, event.request)))) return 'waiting';
    }
    return outcomeOf(await run.snapshot());
  } catch (error) {
    if (cut === undefined) throw error;
    if (options.json !== true)
      terminal.err.write(`The run goes on. See it with: ${commandName()} runs watch ${shortId(run.id)}\n`);
    return cut;
  } finally {
    unhear();
    unset?.();
  }
}

function approvalPolicy({ terminal }: Context, { onApproval, json }: WatchOptions): 'ask' | 'wait' | 'stay' {
  const isPersonThere = terminal.interactive && terminal.err.isTTY && json !== true;
  if (onApproval === 'ask' && !isPersonThere) {
    throw new TreadleError('usage', {
      place: '--on-approval',
      found: 'ask, and no terminal to ask at',
      wanted: 'wait or stay',
    });
  }
  return onApproval ?? (isPersonThere ? 'ask' : 'wait');
}

/** An entry that changes is printed when it has come to rest: what was written to a terminal stays there. */
function isSettled({ entry, replaces }: Extract<RunEvent, { type: 'entry' }>): boolean {
  if (entry.role === 'action' || entry.role === 'call') return stateOf(entry) === 'done';
  if (entry.role === 'plan' && isAsked(entry)) return false; // the question shows it
  return !replaces;
}

function stateOf({ data }: RunEntry): unknown {
  return typeof data === 'object' && data !== null ? Reflect.get(data, 'state') : undefined;
}

function isAsked({ data }: RunEntry): boolean {
  const requests: unknown = isObject(data) ? data['requests'] : undefined;
  const isOpen = (one: unknown): boolean =>
    isObject(one) && one['answer'] === undefined && one['cancelled'] === undefined;
  return Array.isArray(requests) && requests.some(isOpen);
}

/** False when the person left. */
async function ask({ terminal }: Context, run: Run, request: RunRequest): Promise<boolean> {
  const person = linePerson(terminal);
  const question = asQuestion(request);
  person.screen.lines('', ...questionLines(question, person), '');
  for (;;) {
    const words = await decide(question, person);
    if (words === undefined) return false;
    try {
      const { decision, text = '', note, allow } = words;
      if (decision === 'reply') await run.reply(request, text);
      else if (decision === 'edit')
        await run.answer([
          { request, decision, arguments: words.arguments ?? null, ...(note !== undefined && { note }) },
        ]);
      else if (decision === 'allow') await run.allow(request, { allow, ...(note !== undefined && { note }) });
      else await run.answer([{ request, decision, ...(note !== undefined && { note }) }]);
      return true;
    } catch (error) {
      if (!(error instanceof ClientError) || error.status === 0 || error.status >= 500) throw error;
      person.screen.lines(`  ${error.message}`);
      if (error.code !== 'answer_invalid') return true; // somebody else has settled it
    }
  }
}

function outcomeOf({ status, statusKind, stopReason }: Snapshot): Outcome {
  if (statusKind === 'waiting_for_person') return 'waiting';
  switch (status) {
    case 'completed':
    case 'stopped':
    case 'error':
    case 'max_iterations_reached':
    case 'plan_rejected':
      return endOutcome({ status, stop: stopReason ?? 'unknown' });
    default:
      return 'error';
  }
}
