import type { AsidePurpose } from './aside.ts';
import type { Instant } from '../base/clock.ts';
import { shortDigest } from '../base/digest.ts';
import { canonicalJson, toJson, type Json } from '../base/json.ts';
import type { FactPayload } from './event.ts';
import type { ModelFailure } from './model.ts';
import type { PlanStep } from './plan.ts';
import type { EndStatus, StopKind } from './status.ts';
import type { Effect, Observation, Outcome } from './tool.ts';
import type { Usage } from './usage.ts';

/** What surrounds every entry. An entry that changes keeps its id and its position. */
export interface Placed {
  readonly id: string;
  /** Place in the conversation, from 1. */
  readonly position: number;
  /** Sequence number of the fact that last changed it: what a reader has seen up to a fact is known by it. */
  readonly revision: number;
  /** Sequence number of the fact that began it. */
  readonly since: number;
  /** When it began. */
  readonly at: Instant;
  /** Number of the turn it belongs to; absent for what no turn has begun on. */
  readonly turn?: number;
  /** What people read of it where nothing else fits. */
  readonly text: string;
}

/** A person was asked about an action or a plan, and perhaps has answered. */
export interface Asked extends FactPayload<'hitl.requested'> {
  readonly at: Instant;
  readonly answer?: FactPayload<'hitl.responded'>;
  readonly answeredAt?: Instant;
  /** Nobody will answer: why. */
  readonly cancelled?: string;
}

/** One attempt at a model call. */
export interface CallAttempt {
  readonly provider: string;
  readonly model: string;
  readonly at: Instant;
  readonly ms?: number;
  readonly failure?: ModelFailure;
}

export interface ActionData {
  readonly name: string;
  /** The model's provider did it while it answered: it was neither asked for nor dispatched here. */
  readonly by?: 'provider';
  /** What it runs with: the model's, or what a gate or a person made of it. */
  readonly arguments: Json;
  /** What the model asked for, where that is something else. */
  readonly askedFor?: Json;
  readonly revisedBy?: string;
  /** Nobody was asked, because of what somebody had allowed before: the ids of that. */
  readonly allowedBy?: readonly string[];
  readonly effect?: Effect;
  readonly state: 'asked' | 'waiting' | 'running' | 'done';
  readonly startedAt?: Instant;
  readonly ms?: number;
  readonly observation?: Observation;
  readonly verdicts: readonly FactPayload<'gate.verdict'>[];
  readonly requests: readonly Asked[];
  /** What it waits or has waited for outside of this conversation. */
  readonly waits?: Waited;
  /** What it has asked for itself while it ran. */
  readonly inner?: readonly InnerAction[];
}

/** An action that another one has asked for, as a program does that was given tools. */
export interface InnerAction {
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
  readonly outcome?: Outcome;
}

/** The work outside, or the child run, that an action waits for. */
export type Waited =
  | {
      readonly kind: 'computation';
      readonly ticket: string;
      readonly note?: string;
      readonly deadline?: Instant;
      readonly outcome?: 'ok' | 'failed';
    }
  | { readonly kind: 'subagent'; readonly run: string; readonly agent: string; readonly status?: EndStatus };

export interface CallData {
  /** From 1 within the turn. */
  readonly iteration: number;
  /** What the call is for; absent for the agent's own decision. */
  readonly purpose?: AsidePurpose | 'wrap_up';
  readonly state: 'open' | 'done';
  readonly attempts: readonly CallAttempt[];
  readonly stop?: StopKind;
  /** The model that answered, where it is not the one asked. */
  readonly served?: string;
  readonly usage: Usage;
}

export type NoticeKind =
  | 'verdict'
  | 'question'
  | 'cancel'
  | 'resume'
  | 'restart'
  | 'selection'
  | 'skill'
  | 'tools'
  | 'compaction'
  | 'event'
  | 'tool_choice'
  | 'cache'
  | 'account'
  | 'subagent'
  | 'limits'
  | 'allowance'
  | 'memory';

/** A line of the timeline, as people and the run API read it. */
export type Entry = Placed &
  (
    | {
        readonly role: 'user';
        readonly data: { readonly mode: 'message' | 'followup' | 'steer'; readonly by?: string };
      }
    /** `final`: the turn's answer. Otherwise something the model said on the way; `cut`: until a person stopped it. */
    | { readonly role: 'assistant'; readonly data: { readonly final: boolean; readonly cut?: true } }
    | { readonly role: 'thinking'; readonly data?: undefined }
    | { readonly role: 'call'; readonly data: CallData }
    | { readonly role: 'action'; readonly data: ActionData }
    | {
        readonly role: 'plan';
        readonly data: Pick<FactPayload<'plan.result'>, 'source'> & {
          /** As they stand. */
          readonly steps: readonly PlanStep[];
          /** Who wrote the steps anew when they were asked. */
          readonly editedBy?: string;
          readonly requests: readonly Asked[];
        };
      }
    | {
        readonly role: 'notice';
        readonly data: {
          readonly kind: NoticeKind;
          readonly by?: string;
          readonly verdict?: FactPayload<'gate.verdict'>;
          readonly requests?: readonly Asked[];
        };
      }
    | {
        readonly role: 'end';
        readonly data: FactPayload<'agent.turn.end'> & { readonly ms: number };
      }
  );

export type EntryRole = Entry['role'];
export type EntryOf<R extends EntryRole> = Extract<Entry, { role: R }>;

/** Changes exactly when what a reader is shown of the entry changes. */
export function entryDigest({ role, text, data }: Entry): string {
  return shortDigest(canonicalJson(toJson({ role, text, data })));
}
