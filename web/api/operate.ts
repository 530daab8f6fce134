import type { callsPage, Wire, WireEntry, WirePage } from '../../src/http/wire.ts';
import { newKey } from '../ids.ts';
import { call } from './http.ts';
import type {
  AgentDetails,
  ApiKey,
  NewKey,
  ReplayReport,
  MakeKey,
  Allowance,
  Budget,
  Caller,
  ModelCall,
  EditPlan,
  Note,
  NoteList,
  UsageRow,
  UsageQuery,
} from './operate-types.ts';
import type { LogPage } from './types.ts';

const run = (id: string, rest: string): string => `/runs/${encodeURIComponent(id)}${rest}`;
const agentPath = (name: string, rest = ''): string => `/agents/${encodeURIComponent(name)}${rest}`;

const note = (id: string): string => `/notes/${encodeURIComponent(id)}`;

/** Facts that are asked for at once: the most that the server gives. */
const FACTS = 1_000;
/** Notes of a page: the most that the server gives. */
const NOTES = 100;

/** What the pages of operators and the inspector ask for. Loaded with them, not with the chat. */
export const operate = {
  me: () => call<Caller>('/me'),
  agent: (name: string) => call<AgentDetails>(agentPath(name)),
  askServer: (name: string, server: string) =>
    call<AgentDetails>(agentPath(name, `/servers/${encodeURIComponent(server)}/ask`), { method: 'POST', body: {} }),
  planEdit: (name: string, bundle: string) =>
    call<EditPlan>(agentPath(name, '/plan'), { method: 'POST', body: { bundle } }),
  usage: async (query: UsageQuery) =>
    (await call<{ rows: readonly UsageRow[] }>('/usage', { query: { ...query } })).rows,
  budgets: async () => (await call<{ budgets: readonly Budget[] }>('/budgets')).budgets,
  allowances: async () => (await call<{ allowances: readonly Allowance[] }>('/allowances')).allowances,
  revokeAllowance: (id: string) =>
    call<undefined>(`/allowances/${encodeURIComponent(id)}`, { method: 'DELETE', key: newKey() }),
  notes: (query: { readonly q?: string; readonly cursor?: string | undefined }, signal?: AbortSignal) =>
    call<NoteList>('/notes', { query: { ...query, limit: NOTES }, signal }),
  async everyNote(): Promise<readonly Note[]> {
    const found: Note[] = [];
    for (let cursor: string | undefined; ;) {
      const page: NoteList = await operate.notes({ cursor });
      found.push(...page.notes);
      cursor = page.nextCursor;
      if (!page.hasMore || cursor === undefined) return found;
    }
  },
  changeNote: ({ id, bundle }: Note, body: { readonly text?: string; readonly pinned?: boolean }) =>
    call<Note>(note(id), { method: 'PATCH', query: { bundle }, body }),
  deleteNote: ({ id, bundle }: Note) =>
    call<undefined>(note(id), { method: 'DELETE', query: { bundle }, key: newKey() }),
  keys: async () => (await call<{ keys: readonly ApiKey[] }>('/keys')).keys,
  makeKey: (key: MakeKey) => call<NewKey>('/keys', { method: 'POST', body: key }),
  revokeKey: (id: string) => call<undefined>(`/keys/${encodeURIComponent(id)}`, { method: 'DELETE', key: newKey() }),
  facts: async (id: string, after: number): Promise<LogPage> =>
    call<LogPage>(run(id, '/log'), { query: { after, limit: FACTS } }),
  replay: (id: string, bundle: string | undefined) =>
    call<ReplayReport>(run(id, '/replay'), { method: 'POST', body: bundle === undefined ? {} : { bundle } }),
  async calls(id: string, signal?: AbortSignal): Promise<readonly ModelCall[]> {
    const found: ModelCall[] = [];
    for (;;) {
      const query = { after: found.at(-1)?.seq, limit: 1_000 };
      const { calls, hasMore } = await call<Wire<typeof callsPage>>(run(id, '/calls'), { query, signal });
      found.push(...calls);
      if (!hasMore || calls.length === 0) return found;
    }
  },
  /** All entries of a run as they are now. */
  async entries(id: string, signal?: AbortSignal): Promise<readonly WireEntry[]> {
    const found: WireEntry[] = [];
    for (let cursor: string | undefined; ;) {
      const page: WirePage = await call<WirePage>(run(id, '/events'), { query: { cursor, limit: 100 }, signal });
      found.push(...page.events);
      cursor = page.nextCursor;
      if (!page.hasMore) return found;
    }
  },
};
