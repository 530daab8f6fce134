import type { z } from 'zod';
import type {
  account,
  agentList,
  answer,
  caller,
  capabilities,
  changeSelection,
  consequence,
  consequenceReply,
  logPage,
  prompt,
  runSummary,
  selectionReply,
  shownImage,
  usageReply,
  Wire,
  WireAnswered,
  WireFrame,
  WireRequest,
  WireRun,
  WireRunList,
} from '../../src/http/wire.ts';

// The words of the wire, under the names that the page uses. Types only: no schema comes along.

export type { ActionData, CallAttempt, CallData, WireEntry } from '../../src/http/wire.ts';
export type Json = unknown;
export type ShownImage = Wire<typeof shownImage>;
export type Agent = Wire<typeof agentList>['agents'][number];
export type Account = Wire<typeof account>;
export type Me = Wire<typeof caller>;
export type Answered = WireAnswered;
export type RunAnswer = z.input<typeof answer>;
export type Frame = WireFrame;
export type OpenRequest = WireRequest;
export type Snapshot = WireRun;
export type RunStatus = WireRun['status'];
export type StatusKind = WireRun['statusKind'];
export type RunList = WireRunList;
export type RunSummary = Wire<typeof runSummary>;
export type Prompt = Wire<typeof prompt>;
export type PromptSection = Prompt['sections'][number];
export type UsageRow = Wire<typeof usageReply>['rows'][number];
export type UsageKey = 'user' | 'agent' | 'model' | 'day';

/** A fact as the log has it. */
export interface LoggedFact {
  readonly seq: number;
  readonly type: string;
  readonly at: number;
  readonly source?: string;
  readonly payload: Json;
}
export type LogPage = Omit<Wire<typeof logPage>, 'facts'> & { readonly facts: readonly LoggedFact[] };

export type Capabilities = Wire<typeof capabilities>;
export type CapabilityGroup = Capabilities['groups'][number];
export type GroupKind = CapabilityGroup['kind'];
export type Consequence = Wire<typeof consequence>;
export type ConsequenceReply = Wire<typeof consequenceReply>;
export type SelectionReply = Wire<typeof selectionReply>;
export type ChangeSelection = z.input<typeof changeSelection>;
export type Decision = NonNullable<ChangeSelection['decision']>;
