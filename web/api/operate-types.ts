import type { z } from 'zod';
import type {
  agentDetails,
  allowanceView,
  apiKey,
  budgetList,
  caller,
  callsPage,
  createKey,
  editPlan,
  noteList,
  noteView,
  usageReply,
  Wire,
  WireReplay,
} from '../../src/http/wire.ts';
import type { LoggedFact } from './types.ts';

// The words of the wire that operators and the inspector use. Types only.

export type AgentDetails = Wire<typeof agentDetails>;
export type ToolServer = AgentDetails['servers'][number];
export type ApiKey = Wire<typeof apiKey>;
export type NewKey = ApiKey & { readonly key: string };
export type MakeKey = z.input<typeof createKey>;
export type Allowance = Wire<typeof allowanceView>;
export type Note = Wire<typeof noteView>;
export type NoteList = Wire<typeof noteList>;
export type Scope = ApiKey['scopes'][number];
export type Budget = Wire<typeof budgetList>['budgets'][number];
export type Caller = Wire<typeof caller>;
export type ModelCall = Wire<typeof callsPage>['calls'][number];
export type EditPlan = Wire<typeof editPlan>;
export type ReplayReport = WireReplay;
export type UsageRow = Wire<typeof usageReply>['rows'][number];
export type UsageKey = 'user' | 'agent' | 'model' | 'day';

export interface UsageQuery {
  readonly by: UsageKey;
  readonly per?: 'day' | 'month' | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly user?: string | undefined;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
}
export type { LoggedFact };
