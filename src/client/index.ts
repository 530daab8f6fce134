export { ClientError, type ClientErrorDetail } from './client-error.ts';
export {
  createClient,
  type Client,
  type ClientOptions,
  type FrameQuery,
  type NewRun,
  type NoteChange,
  type NoteQuery,
  type NoteOwner,
  type PageQuery,
  type ReadOptions,
  type RouteCall,
  type RunQuery,
  type UsageRange,
} from './client.ts';
export type { RunEvent } from './events.ts';
export type { ChangeOptions, ForkOptions, Run, RunDecision, SayOptions } from './run.ts';
export type { Fetch } from './transport.ts';
export type {
  Account,
  AccountSignIn,
  Allowance,
  AllowScope,
  Answered,
  Note,
  NoteList,
  Attachment,
  Page,
  Prompt,
  Receipt,
  ReplayReport,
  RunEntry,
  RunLimits,
  RunList,
  RunRequest,
  RunSummary,
  Snapshot,
  StreamFrame,
  UsageRow,
} from './types.ts';
