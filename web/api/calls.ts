import type {
  Account,
  Agent,
  Answered,
  Capabilities,
  ChangeSelection,
  ConsequenceReply,
  LogPage,
  Me,
  Prompt,
  RunAnswer,
  RunList,
  SelectionReply,
  ShownImage,
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
  me: () => call<Me>('/me'),
  agents: async () => (await call<{ agents: readonly Agent[] }>('/agents')).agents,
  runs: (query: { q?: string; label?: string; archived?: string; status?: string; cursor?: string; limit?: number }) =>
    call<RunList>('/runs', { query }),
  run: async (id: string) => call<Snapshot>(runPath(id)),
  start: (agent: string | undefined, { text, attachments, key }: Spoken) =>
    call<Snapshot>('/runs', { method: 'POST', key, body: { agent, prompt: text, attachments } }),
  say: (id: string, mode: 'followup' | 'steer' | undefined, { text, attachments, key }: Spoken) =>
    call<Snapshot>(runPath(id, '/messages'), { method: 'POST', key, body: { content: text, mode, attachments } }),
  answer: (id: string, answers: readonly RunAnswer[]) => call<Answered>(runPath(id, '/answers'), mutation(answers)),
  image: (id: string, url: string) => call<ShownImage>(runPath(id, '/image'), { query: { url } }),
  stop: (id: string) => call<Snapshot>(runPath(id, '/stop'), mutation()),
  resume: (id: string) => call<Snapshot>(runPath(id, '/resume'), mutation()),
  fork: (id: string, fork: { at?: string; content?: string; metadata?: Readonly<Record<string, string>> }) =>
    call<Snapshot>(runPath(id, '/fork'), mutation(fork)),
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
  /** `keepalive`: it is sent also when the page goes away meanwhile. */
  changeSelection: (agent: string, body: ChangeSelection, keepalive = false) =>
    call<SelectionReply>(`/agents/${encodeURIComponent(agent)}/selection`, { method: 'PATCH', body, keepalive }),
  accounts: async () => (await call<{ accounts: readonly Account[] }>('/accounts')).accounts,
  connect: (provider: string, claims: readonly string[] | undefined) =>
    call<{ authorizationUrl: string; expiresAt: string }>(`/accounts/${encodeURIComponent(provider)}/connect`, {
      method: 'POST',
      body: claims === undefined ? {} : { claims },
    }),
  disconnect: (provider: string) => call<undefined>(`/accounts/${encodeURIComponent(provider)}`, { method: 'DELETE' }),
  usage: async (by: UsageKey) => (await call<{ rows: readonly UsageRow[] }>('/usage', { query: { by } })).rows,
};
