import { systemClock } from '../../base/clock.ts';
import { TreadleError } from '../../base/errors.ts';
import { parseJson, tryParseJson, type Json } from '../../base/json.ts';
import type { AllowScope, Answered, Client, RunEntry, RunSummary, Snapshot } from '../../client/index.ts';
import { chosen, isNoChoice } from '../approval.ts';
import { commandName } from '../command-name.ts';
import type { Context } from '../context.ts';
import { entryLines } from '../entry-lines.ts';
import type { Outcome } from '../exit-codes.ts';
import { inputText } from '../input-text.ts';
import { changedLimits, type LimitOptions } from '../limit-options.ts';
import { shortId } from '../open.ts';
import { findRemoteRun, findRequest, openClient, type RemoteOptions } from '../remote.ts';
import { runTable } from '../run-table.ts';
import { storyHead } from '../story.ts';
import { harmless, oneLine } from '../text.ts';
import { requestLines } from '../request-lines.ts';
import { parseLimit, parseStatus } from './list.ts';

export interface RunsListOptions extends RemoteOptions {
  readonly status?: string;
  readonly agent?: string;
  readonly title?: string;
  readonly archived?: boolean;
  readonly limit?: string;
}

const LIMIT = 20;
const PAGE = 100;

export async function listRuns(context: Context, options: RunsListOptions): Promise<Outcome> {
  const { terminal } = context;
  const limit = options.limit === undefined ? LIMIT : parseLimit(options.limit);
  const status = options.status === undefined ? undefined : parseStatus(options.status).join(',');
  const archived = options.archived === true ? 'only' : undefined;
  const client = openClient(context, options);
  const rows: RunSummary[] = [];
  let hasMore = true;
  for (let cursor: string | undefined; hasMore && rows.length < limit;) {
    const { agent, title: q } = options;
    const page = await client.list({ status, agent, q, archived, cursor, limit: Math.min(PAGE, limit - rows.length) });
    rows.push(...page.runs);
    ({ hasMore } = page);
    cursor = page.nextCursor;
  }
  if (options.json === true) return print(context, [JSON.stringify(rows)]);
  if (rows.length === 0) {
    terminal.err.write('No runs.\n');
    return 'completed';
  }
  const table = rows.map((row) => ({ ...row, updatedAt: Date.parse(row.updatedAt) }));
  print(context, runTable(table, { colors: terminal.colors, columns: terminal.columns(), now: systemClock.now() }));
  if (hasMore) terminal.err.write(`The newest ${limit}; --limit shows more.\n`);
  return 'completed';
}

export interface RunsStartOptions extends RemoteOptions {
  readonly agent?: string;
  readonly maxIterations?: string;
}

export async function startRun(
  context: Context,
  words: readonly string[],
  options: RunsStartOptions,
): Promise<Outcome> {
  const { text } = await inputText(words, context.terminal.input, undefined);
  const maxIterations =
    options.maxIterations === undefined ? undefined : parseLimit(options.maxIterations, '--max-iterations');
  const run = await openClient(context, options).create({ prompt: text, agent: options.agent, maxIterations });
  return tellState(context, await run.snapshot(), options);
}

export async function showRun(context: Context, named: string, options: RemoteOptions): Promise<Outcome> {
  const { terminal } = context;
  const client = openClient(context, options);
  const id = await findRemoteRun(client, named);
  const snapshot = await client.snapshot(id);
  const entries: RunEntry[] = [];
  for await (const entry of entriesOf(client, id)) entries.push(entry);
  if (options.json === true) return print(context, [JSON.stringify({ ...snapshot, entries })]);
  const look = { colors: terminal.colors, columns: terminal.columns() };
  const about = { ...snapshot, createdAt: Date.parse(snapshot.createdAt) };
  const lines = entries.flatMap((entry) => entryLines(entry, entries, look));
  const open = snapshot.requests.flatMap((one) => requestLines(one, snapshot, look));
  return print(context, [...storyHead(about, look), ...lines, ...open]);
}

/** The entries as they are now. Whoever wants those to come, too, watches. */
async function* entriesOf(client: Client, id: string): AsyncGenerator<RunEntry> {
  for (let cursor: string | undefined; ;) {
    const page = await client.page(id, { cursor, limit: PAGE });
    yield* page.events;
    cursor = page.nextCursor;
    if (!page.hasMore) return;
  }
}

export interface AnswerOptions extends RemoteOptions {
  readonly note?: string;
}

export interface ApproveOptions extends AnswerOptions {
  readonly allow?: AllowScope;
}

export async function approveRun(
  context: Context,
  named: string,
  request: string | undefined,
  options: ApproveOptions,
): Promise<Outcome> {
  const { client, snapshot } = await opened(context, named, options);
  const asked = findRequest(snapshot, request, 'allow');
  const answered = await client.run(snapshot.id).allow(asked, { ...noted(options), allow: options.allow });
  return tellAnswered(context, snapshot, answered, options);
}

export async function rejectRun(
  context: Context,
  named: string,
  request: string | undefined,
  options: AnswerOptions,
): Promise<Outcome> {
  const { client, snapshot } = await opened(context, named, options);
  const asked = findRequest(snapshot, request, 'reject');
  return tellAnswered(context, snapshot, await client.run(snapshot.id).reject(asked, noted(options)), options);
}

/** `words` are a request and JSON, or JSON alone. */
export async function editRun(
  context: Context,
  named: string,
  words: readonly string[],
  options: AnswerOptions,
): Promise<Outcome> {
  const [request, json] = pair(words, 'JSON');
  const args: Json = parseJson(json, 'JSON');
  const { client, snapshot } = await opened(context, named, options);
  const asked = findRequest(snapshot, request, 'edit');
  return tellAnswered(context, snapshot, await client.run(snapshot.id).edit(asked, args, noted(options)), options);
}

/** `words` are a request and text, or text alone. */
export async function replyRun(
  context: Context,
  named: string,
  words: readonly string[],
  options: RemoteOptions,
): Promise<Outcome> {
  const [request, text] = pair(words, 'TEXT');
  const { client, snapshot } = await opened(context, named, options);
  const asked = findRequest(snapshot, request, 'reply');
  const choices = asked.choices ?? [];
  if (isNoChoice(text, choices))
    throw new TreadleError('usage', {
      place: 'TEXT',
      found: text,
      wanted: `a number from 1 to ${choices.length}, or words`,
    });
  const answered = await client.run(snapshot.id).reply(asked, chosen(text, choices));
  return tellAnswered(context, snapshot, answered, options);
}

export async function sayToRun(
  context: Context,
  named: string,
  words: readonly string[],
  mode: 'say' | 'steer',
  options: RemoteOptions,
): Promise<Outcome> {
  const { text } = await inputText(words, context.terminal.input, undefined);
  const client = openClient(context, options);
  const run = client.run(await findRemoteRun(client, named));
  return tellState(context, mode === 'say' ? await run.say(text) : await run.steer(text), options);
}

export async function moveRun(
  context: Context,
  named: string,
  verb: 'stop' | 'resume',
  options: RemoteOptions & LimitOptions,
): Promise<Outcome> {
  const client = openClient(context, options);
  const run = client.run(await findRemoteRun(client, named));
  if (verb === 'stop') return tellState(context, await run.stop(), options);
  const { limits } = await run.snapshot();
  return tellState(context, await run.resume({ limits: changedLimits(limits, options) }), options);
}

export async function forkRun(
  context: Context,
  named: string,
  options: RemoteOptions & { readonly at?: string },
): Promise<Outcome> {
  const client = openClient(context, options);
  const copy = await client.run(await findRemoteRun(client, named)).fork({ at: options.at });
  return tellState(context, await copy.snapshot(), options);
}

export async function archiveRun(
  context: Context,
  named: string,
  options: RemoteOptions & { readonly undo?: boolean },
): Promise<Outcome> {
  const client = openClient(context, options);
  const run = client.run(await findRemoteRun(client, named));
  return tellState(context, await run.archive(options.undo !== true), options);
}

export async function removeRun(context: Context, named: string, options: RemoteOptions): Promise<Outcome> {
  const client = openClient(context, options);
  // Whatever is removed is named in full: there is no way back.
  const id = await findRemoteRun(client, named);
  if (id !== named)
    throw new TreadleError('usage', {
      place: 'RUN',
      found: `${JSON.stringify(named)}, which is short for ${id}`,
      wanted: 'the whole id: what is deleted does not come back',
      hint: `${commandName()} runs delete ${id}`,
    });
  await client.run(id).remove();
  return print(context, [options.json === true ? JSON.stringify({ id: named, removed: true }) : `${named}: removed`]);
}

export interface ExportOptions extends RemoteOptions {
  readonly format?: 'facts' | 'md' | 'jsonl';
}

/** The facts, one JSON object a line, as `treadle show --log` prints them; or the transcript. */
export async function exportRun(context: Context, named: string, options: ExportOptions): Promise<Outcome> {
  const client = openClient(context, options);
  const id = await findRemoteRun(client, named);
  const { format = 'facts' } = options;
  if (format === 'facts') for await (const fact of client.facts(id)) print(context, [JSON.stringify(fact)]);
  else for await (const text of client.transcript(id, format)) context.terminal.out.write(text);
  return 'completed';
}

export interface UsageOptions extends RemoteOptions {
  readonly by?: 'user' | 'agent' | 'model' | 'day';
  readonly from?: string;
  readonly to?: string;
}

export async function showUsage(context: Context, options: UsageOptions): Promise<Outcome> {
  const { by = 'day', from, to } = options;
  const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const rows = await openClient(context, options).usage(by, range);
  if (options.json === true) return print(context, [JSON.stringify(rows)]);
  if (rows.length === 0) context.terminal.err.write('Nothing was spent.\n');
  const cells = rows.map(({ key, calls, usage, cost }) => {
    const { input = 0, cacheRead = 0, cacheWrite = 0, cacheWriteLong = 0, output = 0, reasoning = 0 } = usage;
    const read = (input + cacheRead + cacheWrite + cacheWriteLong).toLocaleString('en-US');
    const written = (output + reasoning).toLocaleString('en-US');
    return [
      oneLine(key, 28),
      `${calls} calls`,
      `${read} in`,
      `${written} out`,
      cost === undefined ? 'cost unknown' : `$${cost.amount}`,
    ];
  });
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(0, ...cells.map((one) => one[column]?.length ?? 0)));
  return print(
    context,
    cells.map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  '),
    ),
  );
}

async function opened(
  context: Context,
  named: string,
  options: RemoteOptions,
): Promise<{ readonly client: Client; readonly snapshot: Snapshot }> {
  const client = openClient(context, options);
  return { client, snapshot: await client.snapshot(await findRemoteRun(client, named)) };
}

function noted({ note }: AnswerOptions): { readonly note?: string } {
  return note === undefined ? {} : { note };
}

/** Something and a request before it, which may be left out. */
function pair(words: readonly string[], what: string): readonly [string | undefined, string] {
  const [first = '', second] = words;
  if (words.length > 2 || (second !== undefined && tryParseJson(first).ok && what === 'JSON'))
    throw new TreadleError('usage', {
      place: what,
      found: `${words.length} words`,
      wanted: 'a request and one more word, or that word alone',
      hint: 'put quotes around what has spaces',
    });
  return second === undefined ? [undefined, first] : [first, second];
}

/** How a run stands, in a line. */
function tellState(context: Context, run: Snapshot, { json }: RemoteOptions): Outcome {
  return print(context, [json === true ? JSON.stringify(run) : `${run.id}: ${run.status}`]);
}

function tellAnswered(context: Context, run: Snapshot, answered: Answered, { json }: RemoteOptions): Outcome {
  if (json === true) return print(context, [JSON.stringify(answered)]);
  const lines = answered.receipts.map(({ request, decision, allow, by, repeated }) => {
    const said = allow === undefined ? decision : `${decision}, ${allow}`;
    return repeated ? `${request}: answered before: ${said} by ${by}` : `${request}: ${said}`;
  });
  const { colors, columns } = context.terminal;
  const open = answered.open.flatMap((one) => requestLines(one, run, { colors, columns: columns() }));
  return print(context, [...lines.map(harmless), `${shortId(run.id)}: ${answered.status}`, ...open]);
}

function print({ terminal }: Context, lines: readonly string[]): Outcome {
  terminal.out.write(lines.map((line) => `${line}\n`).join(''));
  return 'completed';
}
