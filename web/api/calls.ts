import type {
  Agent,
  Answered,
  Capabilities,
  ChangeSelection,
  ConsequenceReply,
  LogPage,
  Prompt,
  RunAnswer,
  RunList,
  SelectionReply,
  Snapshot,
  UsageKey,
  UsageRow,
} from './types.ts';
import { newKey } from '../ids.ts';
import { call } from './http.ts';

export interface Attachment {
  readonly type: 'file';
  readonly mediaType: string;
  readonly data: string;
  readonly name: string;
}

export interface Spoken {
  readonly text: string;
  readonly attachments?: readonly Attachment[];
  readonly key: string;
}

const runPath = (id: string, rest = ''): string => `/runs/${encodeURIComponent(id)}${rest}`;
const mutation = (body: unknown = {}) => ({ method: 'POST', body, key: newKey() }) as const;

/** Every request that the page makes, by what it is for. */
export const api = {
  agents: async () => (await call<{ agents: readonly Agent[] }>('/agents')).agents,
  runs: (query: { q?: string; archived?: string; status?: string; cursor?: string; limit?: number }) =>
    call<RunList>('/runs', { query }),
  run: async (id: string) => call<Snapshot>(runPath(id)),
  start: (agent: string | undefined, { text, attachments, key }: Spoken) =>
    call<Snapshot>('/runs', { method: 'POST', key, body: { agent, prompt: text, attachments } }),
  say: (id: string, mode: 'followup' | 'steer' | undefined, { text, attachments, key }: Spoken) =>
    call<Snapshot>(runPath(id, '/messages'), { method: 'POST', key, body: { content: text, mode, attachments } }),
  answer: (id: string, answers: readonly RunAnswer[]) => call<Answered>(runPath(id, '/answers'), mutation(answers)),
  stop: (id: string) => call<Snapshot>(runPath(id, '/stop'), mutation()),
  resume: (id: string) => call<Snapshot>(runPath(id, '/resume'), mutation()),
  fork: (id: string, at: string | undefined) =>
    call<Snapshot>(runPath(id, '/fork'), mutation(at === undefined ? {} : { at })),
  archive: (id: string, archived: boolean) => call<Snapshot>(runPath(id, '/archive'), mutation({ archived })),
  rename: (id: string, title: string) =>
    call<Snapshot>(runPath(id), { method: 'PATCH', body: { title }, key: newKey() }),
  remove: (id: string) => call<undefined>(runPath(id), { method: 'DELETE', key: newKey() }),
  prompt: (id: string, turn: number, iteration: number) =>
    call<Prompt>(runPath(id, `/prompts/${iteration}`), { query: { turn } }),
  log: (id: string, after: number) => call<LogPage>(runPath(id, '/log'), { query: { after, limit: 200 } }),
  capabilities: (agent: string, conversation: string | undefined) =>
    call<Capabilities>(`/agents/${encodeURIComponent(agent)}/capabilities`, { query: { conversation } }),
  consequence: (agent: string, body: ChangeSelection) =>
    call<ConsequenceReply>(`/agents/${encodeURIComponent(agent)}/consequence`, { method: 'POST', body }),
  changeSelection: (agent: string, body: ChangeSelection) =>
    call<SelectionReply>(`/agents/${encodeURIComponent(agent)}/selection`, { method: 'PATCH', body, key: newKey() }),
  usage: async (by: UsageKey) => (await call<{ rows: readonly UsageRow[] }>('/usage', { query: { by } })).rows,
};
