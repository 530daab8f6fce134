import { z } from 'zod';
import { sha256 } from '../../base/digest.ts';
import { TreadleError } from '../../base/errors.ts';
import { canonicalJson, toJson, tryParseJson } from '../../base/json.ts';
import { payloadOf } from '../../adapters/stores/stored.ts';
import type { Draft } from '../../domain/event.ts';
import { FACT_VERSIONS } from '../../domain/event-types.ts';
import { runLimits } from '../../domain/run-limits.ts';
import { RUN_STATUSES } from '../../domain/status.ts';
import type { Carried, ConversationRow, Log } from '../../kernel/log.ts';

/** What stands in the first line of an export. */
const FORMAT = 'conversations of treadle, 1';

const time = z.number().int();
const optionalText = z.string().optional();

const fact = z.strictObject({
  type: z.string(),
  v: z.number().int().positive(),
  at: time,
  payload: z.json(),
  turnId: optionalText,
  iteration: z.number().optional(),
  causedBy: optionalText,
  source: optionalText,
  key: optionalText,
});

const conversation = z.strictObject({
  row: z.strictObject({
    id: z.string().min(1),
    agent: z.string(),
    bundle: z.string(),
    userId: z.string(),
    tenant: z.string(),
    agentPath: z.string(),
    createdAt: time,
    parent: z.strictObject({ id: z.string(), action: z.string() }).optional(),
    root: optionalText,
    metadata: z.record(z.string(), z.string()).optional(),
    limits: runLimits.optional(),
    head: z.number().int().min(0),
    status: z.enum(RUN_STATUSES),
    title: z.string(),
    updatedAt: time,
    archivedAt: time.optional(),
  }),
  facts: z.array(fact),
  bodies: z.array(z.string()),
  hasWork: z.boolean(),
  continueAt: time.optional(),
});

const line = z.union([
  z.strictObject({ format: z.literal(FORMAT) }),
  z.strictObject({ conversation, digest: z.string() }),
  z.strictObject({ end: z.strictObject({ conversations: z.number().int() }) }),
]);

export interface Exported {
  /** Lines of JSON without their breaks. */
  readonly lines: AsyncIterable<string>;
  /** What a process was driving, and which is not in it. Whole when the lines are. */
  readonly busy: readonly string[];
}

const PAGE = 200;

/** Every conversation of a log, or those that are named: each in a line that carries its own digest. */
export function exported(log: Log, named?: readonly string[]): Exported {
  const busy: string[] = [];
  async function* lines(): AsyncGenerator<string> {
    yield JSON.stringify({ format: FORMAT });
    let conversations = 0;
    for await (const id of named ?? idsOf(log)) {
      const carried = await carriedOf(log, id, busy);
      if (carried === undefined) continue;
      const written = toJson(writtenOf(carried));
      yield canonicalJson({ conversation: written, digest: sha256(canonicalJson(written)) });
      conversations++;
    }
    yield JSON.stringify({ end: { conversations } });
  }
  return { lines: lines(), busy };
}

export interface Imported {
  readonly added: number;
  /** Were here before, from an import that was cut or because they went on here. */
  readonly there: number;
}

/**
 * Puts exported conversations into a log. Each is all there or not at all, so an import that was cut is begun again.
 * Throws `export_invalid` at the first line that is not as it was written, and at the end where the last is missing.
 */
export async function importInto(log: Log, lines: AsyncIterable<string>): Promise<Imported> {
  let [number, added, there] = [0, 0, 0];
  let isOver = false;
  for await (const text of lines) {
    number++;
    if (text.trim() === '') continue;
    const place = `line ${number}`;
    const read = lineOf(text, place);
    if (number === 1 && !('format' in read)) throw invalid(place, 'no export', `{"format":"${FORMAT}"}`);
    if ('end' in read) {
      isOver = true;
      if (read.end.conversations !== added + there)
        throw invalid(place, `${added + there} conversations`, `${read.end.conversations}, as it says at its end`);
    }
    if (!('conversation' in read)) continue;
    const carried = carriedIn(read.conversation, place);
    if (await log.adopt(carried)) added++;
    else there++;
    await verify(log, carried, place);
  }
  if (!isOver) throw invalid(`line ${number}`, 'no last line', 'a whole export; what came is kept, so begin it again');
  return { added, there };
}

async function* idsOf(log: Log): AsyncGenerator<string> {
  for (let before: ConversationRow | undefined; ;) {
    const page: readonly ConversationRow[] = await log.list({ limit: PAGE, before, archived: 'any' });
    for (const { id } of page) yield id;
    before = page.at(-1);
    if (page.length < PAGE) return;
  }
}

async function carriedOf(log: Log, id: string, busy: string[]): Promise<Carried | undefined> {
  try {
    const carried = await log.carry(id);
    if (carried === undefined) throw new TreadleError('conversation_unknown', { found: JSON.stringify(id) });
    return carried;
  } catch (error) {
    if (!TreadleError.is(error) || error.code !== 'conversation_busy') throw error;
    busy.push(id);
    return undefined;
  }
}

function writtenOf({ facts, ...rest }: Carried): unknown {
  return { ...rest, facts: facts.map(({ draft, at }) => ({ ...draft, at, v: FACT_VERSIONS[draft.type] })) };
}

function lineOf(text: string, place: string): z.infer<typeof line> {
  const parsed = tryParseJson(text);
  if (!parsed.ok) throw invalid(place, 'text that is not JSON', 'a line of an export', parsed.problem);
  const checked = line.safeParse(parsed.value);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw invalid(place, 'something else', 'a line of an export', issue?.message);
  }
  const read = checked.data;
  if ('conversation' in read && sha256(canonicalJson(toJson(read.conversation))) !== read.digest)
    throw invalid(place, `${read.conversation.row.id}, altered`, 'what was exported: its digest is another one');
  return read;
}

/** Payloads of an older version are brought up to date, as those of an older log are. */
function carriedIn({ facts, ...rest }: z.infer<typeof conversation>, place: string): Carried {
  const drafts = facts.map(({ at, v, payload, type, ...around }, index) => {
    const where = (): string => `${place}: ${rest.row.id}, fact ${index + 1} (${type})`;
    if (!Object.hasOwn(FACT_VERSIONS, type))
      throw new TreadleError('log_version', {
        place: where(),
        found: 'a type that is not known',
        hint: 'update Treadle',
      });
    const draft = { ...around, type, payload: payloadOf(type, v, JSON.stringify(payload), where) };
    return { at, draft: draft as Draft }; // the payload fits the type's schema
  });
  if (rest.row.head !== drafts.length)
    throw invalid(place, `${drafts.length} facts`, `${rest.row.head}, as the row says`);
  return { ...rest, facts: drafts };
}

/** What is here now begins with what was carried, also where it has gone on since. */
async function verify(log: Log, { row, facts, bodies }: Carried, place: string): Promise<void> {
  const here = await log.read(row.id, 0, Math.max(1, facts.length));
  const same = facts.every(({ draft, at }, index) => {
    const fact = here[index];
    return fact?.type === draft.type && fact.at === at && digestOf(fact.payload) === digestOf(draft.payload);
  });
  if (!same)
    throw invalid(place, `another conversation ${row.id} here`, 'none of this id', 'export them by name, without it');
  for (const body of bodies) {
    if ((await log.readBody(row.id, sha256(body))) !== body.toWellFormed())
      throw invalid(place, `${row.id} without one of its bodies`, 'all of them');
  }
}

function digestOf(value: unknown): string {
  return sha256(canonicalJson(toJson(value)));
}

function invalid(place: string, found: string, wanted: string, hint?: string): TreadleError {
  return new TreadleError('export_invalid', { place, found, wanted, hint });
}
