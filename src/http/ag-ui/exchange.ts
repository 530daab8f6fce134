import { omitOptionalNulls, type AGUIEvent, type RunAgentInput } from '@ag-ui/core';
import { TreadleError } from '../../base/errors.ts';
import { runIdOf } from '../../platform/runs/begin.ts';
import type { Caller } from '../../platform/runs/caller.ts';
import type { Frame } from '../../platform/runs/frame.ts';
import type { WireEntry } from '../../platform/runs/page.ts';
import type { Runs } from '../../platform/runs/runs.ts';
import type { Snapshot } from '../../platform/runs/snapshot.ts';
import { Refusal, refusalOf } from '../refusal.ts';
import { newMessages, shownBy, type Said } from './input.ts';
import { answersOf, checkComplete } from './interrupts.ts';
import { createTranslation } from './translate.ts';

export interface ExchangeOptions {
  readonly runs: Runs;
  readonly caller: Caller;
  readonly agent: string;
  readonly input: RunAgentInput;
  /** The page has gone. The run goes on. */
  readonly signal: AbortSignal;
}

const PAGE = 100;

/** An event as a page is sent it. The protocol's own encoder brings its binary form, which is not spoken here. */
export function written(event: AGUIEvent): string {
  return `data: ${JSON.stringify(omitOptionalNulls(event, 'Event'))}\n\n`;
}

/** One exchange of a page with an agent: what the page brings is put on record, and what comes of it is told until it rests. */
export async function* exchange(options: ExchangeOptions): AsyncGenerator<AGUIEvent, void> {
  const { runs, caller, input, signal } = options;
  const { threadId, runId, parentRunId } = input;
  const shown = shownBy(input.messages);
  let brought: Brought | undefined;
  let problem: unknown;
  try {
    brought = await bring(options);
  } catch (error) {
    problem = error;
  }
  const translation = createTranslation({ threadId, runId, parentRunId, shown, known: brought?.known ?? [] });
  yield* translation.start();
  try {
    if (brought === undefined) throw problem;
    const { id } = brought.run;
    let { cursor } = brought;
    for (;;) {
      for await (const frame of await runs.follow(caller, id, { cursor, deltas: true, signal })) {
        yield* translation.frame(frame);
        if ('cursor' in frame) cursor = frame.cursor;
        if (isRest(frame)) break;
      }
      if (signal.aborted) return;
      // The state comes before what explains it, and there may be more to read.
      for (let hasMore = true; hasMore;) {
        const page = await runs.events(caller, id, { cursor, limit: PAGE });
        for (const entry of page.events) yield* translation.entry(entry);
        ({ nextCursor: cursor, hasMore } = page);
      }
      const now = await runs.snapshot(caller, id);
      if (!now.terminal && (now.statusKind === 'working' || now.requests.length === 0)) continue;
      yield* translation.finish(now);
      return;
    }
  } catch (error) {
    const { code, message } = refusalOf(error);
    yield* translation.fail(code, message);
  }
}

/** What a page has brought, and where its reading goes on. */
interface Brought {
  readonly run: Snapshot;
  /** From the beginning when absent: the page brought nothing new, and is told what it does not show. */
  readonly cursor?: string | undefined;
  /** What happened before, and is not told again. */
  readonly known: readonly WireEntry[];
}

/** A thread is a run: the one of that id, or the one that this caller's page began under that name. */
async function runOfThread({ runs, caller, agent, input }: ExchangeOptions): Promise<Snapshot | undefined> {
  for (const id of [input.threadId, runIdOf(caller, 'create', keyOf(input))]) {
    try {
      const run = await runs.snapshot(caller, id);
      if (run.agent === agent) return run;
      const field = 'threadId';
      throw new Refusal('invalid_request', `The thread belongs to the agent ${run.agent}.`, { field, status: 422 });
    } catch (error) {
      if (!TreadleError.is(error) || error.code !== 'run_unknown') throw error;
    }
  }
  return undefined;
}

function keyOf({ threadId }: RunAgentInput): string {
  return `ag-ui:${threadId}`;
}

/** Which of the page's messages began the run: sent again, it is not said again. */
const FIRST_MESSAGE = 'ag-ui.message';

/** Puts on record what the page brings: answers, what the person said, or nothing, to go on reading. */
async function bring(options: ExchangeOptions): Promise<Brought> {
  const { runs, caller, agent, input } = options;
  const resume = input.resume ?? [];
  const said = newMessages(input.messages);
  const run = await runOfThread(options);
  if (run === undefined) {
    const [first, ...more] = said;
    if (first === undefined || resume.length > 0)
      throw new Refusal('input_invalid', 'The thread is new here, and nothing was said in it.', { field: 'messages' });
    const { id, text, attachments } = first;
    const begun = await runs.create(caller, {
      prompt: text,
      agent,
      ...(attachments.length > 0 && { attachments }),
      metadata: { [FIRST_MESSAGE]: id },
      key: keyOf(input),
    });
    await say(runs, caller, begun.run, more);
    return { run: begun.run, known: [] };
  }
  const before = await readAll(runs, caller, run.id);
  if (resume.length > 0) {
    const answers = answersOf(resume);
    checkComplete(answers, run.requests);
    await runs.answer(caller, run.id, answers);
    return { run, ...before };
  }
  const unsaid = said.filter(({ id }) => run.metadata[FIRST_MESSAGE] !== id);
  if (unsaid.length > 0 && run.requests.length > 0 && run.statusKind !== 'working')
    throw new Refusal('ambiguous_request', 'The run waits for an answer: `resume` has to name what is open.');
  const isNews = await say(runs, caller, run, unsaid);
  return isNews ? { run, ...before } : { run, known: [] };
}

/** The page's ids make sure that what is sent again is not said again. True when any of it was new. */
async function say(runs: Runs, caller: Caller, run: Snapshot, said: readonly Said[]): Promise<boolean> {
  let isNews = false;
  for (const { id, text, attachments } of said) {
    const message = { content: text, ...(attachments.length > 0 && { attachments }), key: `ag-ui:${id}` };
    const { fresh } = await runs.say(caller, run.id, message);
    isNews ||= fresh;
  }
  return isNews;
}

async function readAll(
  runs: Runs,
  caller: Caller,
  id: string,
): Promise<{ readonly known: readonly WireEntry[]; readonly cursor: string }> {
  const known = new Map<string, WireEntry>();
  for (let cursor: string | undefined; ;) {
    const page = await runs.events(caller, id, { cursor, limit: PAGE });
    for (const entry of page.events) known.set(entry.id, entry);
    cursor = page.nextCursor;
    if (!page.hasMore) return { known: [...known.values()], cursor };
  }
}

function isRest(frame: Frame): boolean {
  if (frame.type === 'end') return true;
  return frame.type === 'status' && frame.statusKind !== 'working' && frame.requests.length > 0;
}
