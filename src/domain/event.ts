import type { z } from 'zod';
import type { Instant } from '../base/clock.ts';
import { actionFacts } from './facts/action.ts';
import { memoryFacts } from './facts/memory.ts';
import { modelFacts } from './facts/model.ts';
import { personFacts } from './facts/person.ts';
import { turnFacts } from './facts/turn.ts';
import type { FactTable } from './facts/field.ts';

/**
 * Every fact that a log may hold: its payload's schema and version. The key order is the order of `docs/events.md`.
 *
 * A fact is stored once with a sequence number and never changed. To change a payload, raise its version and teach
 * `adapters/stores` to read the old one; the old log stays in `test/histories`.
 */
export const facts = {
  ...turnFacts,
  ...modelFacts,
  ...actionFacts,
  ...personFacts,
  ...memoryFacts,
} as const satisfies FactTable;

export type FactType = keyof typeof facts;
export type FactPayload<T extends FactType> = z.infer<(typeof facts)[T]['payload']>;

/** Delivered to whoever listens now, and never stored. */
export interface PassingPayloads {
  'llm.stream.chunk': {
    readonly part: string;
    readonly kind: 'text' | 'thinking' | 'action';
    readonly name?: string;
    /** Id of the entry that this is a piece of, which the timeline has once the model has spoken. */
    readonly entry: string;
    readonly attempt: number;
    readonly delta: string;
  };
  /** `superseded`: the attempt failed; what was streamed of it is void and another attempt begins. */
  'llm.stream.end': { readonly attempt: number; readonly superseded: boolean };
  'tool.progress': { readonly action: string; readonly text?: string; readonly fraction?: number };
  'io.status': { readonly state: 'thinking' | 'tool_running' | 'waiting' | 'idle'; readonly detail?: string };
}

export const PASSING_ABOUT: { readonly [T in keyof PassingPayloads]: string } = {
  'llm.stream.chunk': 'the model speaks',
  'llm.stream.end': 'the model has spoken',
  'tool.progress': 'a tool reports',
  'io.status': 'what the agent is doing',
};

export type PassingType = keyof PassingPayloads;
export type EventType = FactType | PassingType;
export type Payload<T extends EventType> = T extends FactType
  ? FactPayload<T>
  : T extends PassingType
    ? PassingPayloads[T]
    : never;

/** What surrounds every payload. */
interface Envelope {
  readonly conversationId: string;
  /** Agent ids from the root run down to this one, joined by `/`. */
  readonly agentPath: string;
  readonly at: Instant;
  /** `t3`: the conversation's third turn. */
  readonly turnId?: string | undefined;
  /** Counted from 1 within the turn. */
  readonly iteration?: number | undefined;
  /** Id of the fact that led to this one. */
  readonly causedBy?: string | undefined;
  /** The plugin or adapter that stated it; absent for the loop itself. */
  readonly source?: string | undefined;
}

export type Fact = {
  [T in FactType]: Envelope & {
    readonly type: T;
    /** Gapless within the conversation, from 1. */
    readonly seq: number;
    /** `conversation:seq`. */
    readonly id: string;
    readonly v: number;
    readonly payload: FactPayload<T>;
  };
}[FactType];

export type FactOf<T extends FactType> = Extract<Fact, { type: T }>;

export type Passing = {
  [T in PassingType]: Envelope & { readonly type: T; readonly payload: PassingPayloads[T] };
}[PassingType];

export type TreadleEvent = Fact | Passing;
export type EventOf<T extends EventType> = Extract<TreadleEvent, { type: T }>;

/** A fact before the log has given it its place. */
export type Draft = {
  [T in FactType]: Pick<Envelope, 'turnId' | 'iteration' | 'causedBy' | 'source'> & {
    readonly type: T;
    readonly payload: FactPayload<T>;
    /** At most one fact of this type and key exists in a conversation: a second one is the first again. */
    readonly key?: string | undefined;
  };
}[FactType];
