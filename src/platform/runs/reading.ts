import { TreadleError } from '../../base/errors.ts';
import { isPromise } from '../../base/promise.ts';
import { statusKind } from '../../domain/status.ts';
import type { ConversationRow, ListQuery } from '../../kernel/log.ts';
import { permit, type Caller } from './caller.ts';
import type { Page, PageQuery } from './page.ts';
import { checkedLimit, runOf, stateNow, type RunsPorts } from './ports.ts';
import type { ListRuns, LogPage, LogQuery, RunList } from './runs.ts';
import { summaryOf } from './snapshot-of.ts';
import { needsInput, pendingApproval, rowKindOf } from './state.ts';
import type { Cursor } from './cursor.ts';
import { firstCursor, windowAt, type Versions } from './window.ts';
import { wireEntry } from './wire-entry.ts';

const PAGE = 50;
const MOST_PAGE = 100;

/** What a cursor of a run is bound to. Made anew under the same id, a run is another one. */
export function boundTo({ tenant, id, createdAt }: ConversationRow): readonly (string | number)[] {
  return ['run', tenant, id, createdAt];
}

export async function events(ports: RunsPorts, caller: Caller, id: string, query: PageQuery): Promise<Page> {
  const row = await runOf(ports, caller, 'read', id);
  const limit = checkedLimit(query.limit, PAGE, MOST_PAGE);
  const given = cursorOf(ports, row, query);
  // The status is of the same facts as the entries, so a reader that believes it misses none.
  const state = await stateNow(ports, row);
  const now = state.fold.timeline;
  const versions: Versions = { now, at: (seq) => ports.folds.at(row, seq) };
  const cursor = given ?? firstCursor(now, query.view ?? 'all', query.order ?? 'asc');
  const { entries, next, hasMore, supersededFirst } = await windowAt(versions, cursor, limit);
  const pending = pendingApproval(state.requests);
  return {
    events: entries.map(({ entry }) => wireEntry(entry)),
    nextCursor: ports.cursors.write(boundTo(row), next),
    hasMore,
    supersededFirst,
    status: state.status,
    needsInput: needsInput(state),
    terminal: statusKind(state.status) === 'ended',
    ...(pending !== undefined && { pendingApproval: pending }),
    version: state.version,
  };
}

function cursorOf(ports: RunsPorts, row: ConversationRow, { cursor, order, view }: PageQuery): Cursor | undefined {
  if (cursor === undefined) return undefined;
  const read = ports.cursors.read(boundTo(row), cursor);
  const isDown = read.kind === 'scan' && read.order === 'desc';
  if (order !== undefined && isDown !== (order === 'desc'))
    throw new TreadleError('invalid_request', { place: 'order', found: order, wanted: 'the order of the cursor' });
  if (view !== undefined && view !== read.view)
    throw new TreadleError('invalid_request', { place: 'view', found: view, wanted: 'the view of the cursor' });
  return read;
}

export async function list(ports: RunsPorts, caller: Caller, query: ListRuns): Promise<RunList> {
  permit(caller, 'read');
  const limit = checkedLimit(query.limit, PAGE, MOST_PAGE);
  const { status, agent, q, archived = 'no', parent, label, cursor } = query;
  const userId = caller.scopes.has('admin') ? undefined : caller.userId;
  const filter = JSON.stringify({ status: status?.toSorted(), agent, q, archived, parent, label });
  const bound = ['list', caller.tenant, userId ?? '', filter];
  const named = agent === undefined ? undefined : agentOf(ports, agent);
  const rows = await ports.log.list({
    limit: limit + 1,
    tenant: caller.tenant,
    userId,
    status,
    ...named,
    q,
    // Runs below another one belong to it, and are listed where it is named.
    ...(parent === undefined ? { top: true } : { parent }),
    label,
    archived: archived === 'no' ? undefined : archived,
    before: cursor === undefined ? undefined : ports.cursors.readPlace(bound, cursor),
  });
  const runs = rows.slice(0, limit);
  const last = runs.at(-1);
  const hasMore = rows.length > limit;
  return {
    runs: await Promise.all(
      runs.map(async (row) => summaryOf(row, ports.served.nameOf, await rowKindOf(ports.log, row))),
    ),
    hasMore,
    ...(hasMore && last !== undefined && { nextCursor: ports.cursors.writePlace(bound, last) }),
  };
}

/** How the log knows an agent of that name: one that is not served may still have runs. */
function agentOf({ served }: RunsPorts, name: string): Partial<Pick<ListQuery, 'agent' | 'bundles'>> {
  if (!served.agents.some((one) => one.name === name)) return { agent: name };
  const { bundle, agent } = served.agentNamed(name);
  return { agent, bundles: served.keys.filter((key) => served.of({ bundle: key }) === bundle) };
}

const LOG_PAGE = 100;
const MOST_LOG_PAGE = 1_000;

export async function log(ports: RunsPorts, caller: Caller, id: string, query: LogQuery): Promise<LogPage> {
  const row = await runOf(ports, caller, 'read', id);
  const limit = checkedLimit(query.limit, LOG_PAGE, MOST_LOG_PAGE);
  const { after = 0 } = query;
  if (!Number.isInteger(after) || after < 0)
    throw new TreadleError('invalid_request', {
      place: 'after',
      found: String(after),
      wanted: 'a whole number from 0',
    });
  const page = ports.log.read(row.id, after, limit + 1);
  const facts = isPromise(page) ? await page : page;
  return { facts: facts.slice(0, limit), hasMore: facts.length > limit };
}
