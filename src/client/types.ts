// What a server says, by name. These are types only: nothing of the server is loaded.
import type { z } from 'zod';
import type {
  account,
  accountRoutes,
  part,
  prompt,
  replayReport,
  runSummary,
  usageReply,
  Wire,
  WireAllowance,
  WireAnswered,
  WireEntry,
  WireFrame,
  WireNote,
  WireNoteList,
  WirePage,
  WireRequest,
  WireRun,
  WireRunList,
} from '../http/wire.ts';

/** An account of yours elsewhere. */
export type Account = Wire<typeof account>;
/** Where you have to go to connect one, and until when. */
export type AccountSignIn = Wire<typeof accountRoutes.connectAccount.reply>;
/** How far a yes reaches. */
export type AllowScope = 'once' | WireAllowance['scope'];
export type Allowance = WireAllowance;
export type Answered = WireAnswered;
/** Something that agents remember of you. */
export type Note = WireNote;
export type NoteList = WireNoteList;
export type Receipt = WireAnswered['receipts'][number];
export type RunEntry = WireEntry;
export type Page = WirePage;
export type StreamFrame = WireFrame;
export type RunRequest = WireRequest;
export type Snapshot = WireRun;
export type RunList = WireRunList;
export type RunSummary = Wire<typeof runSummary>;
export type Prompt = Wire<typeof prompt>;
export type ReplayReport = Wire<typeof replayReport>;
export type UsageRow = Wire<typeof usageReply>['rows'][number];
export type RunLimits = Snapshot['limits'];
/** A part of a message beside its text. */
export type Attachment = z.input<typeof part>;
