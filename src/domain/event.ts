import { z } from 'zod';
import type { Instant } from '../base/clock.ts';
import { ALLOW_SCOPES, allowanceOffer } from './allowance.ts';
import { effectiveAgent, inactiveTool, modelRef, toolChoice, toolChoiceMode } from './agent.ts';
import { ASIDE_PURPOSES } from './aside.ts';
import { json, part } from './content.ts';
import { block, failure, opaque } from './model.ts';
import { selection } from './selection.ts';
import { runLimits } from './run-limits.ts';
import { END_STATUSES, STOP_KINDS } from './status.ts';
import { effect, observation, toolDefinition } from './tool.ts';
import { usage } from './usage.ts';

const text = z.string();
const count = z.number().int().min(0);
const action = text;
const request = text;

/** Who did it: a user id, `operator`, or the id of the plugin. */
const by = text;

const input = z.strictObject({
  text,
  attachments: z.array(part).optional(),
  /** `message` starts a turn. `steer` interrupts the running one. `followup` is read before its next model call. */
  mode: z.enum(['message', 'followup', 'steer']),
  userId: text.optional(),
});

const thought = z.strictObject({ text, opaque: opaque.optional() });

const invocation = z.strictObject({ action, name: text, arguments: json });

const held = z.strictObject({
  request,
  kind: z.enum(['action', 'plan', 'input']),
  /** What the person is asked, as one sentence or question. */
  question: text,
  action: action.optional(),
  /** What would run, after every gate's revision: what the person is to see. */
  arguments: json.optional(),
  /** What the tool shows of what would happen, such as a diff. */
  preview: z.array(part).optional(),
  /** SHA-256 of the canonical arguments the answer is bound to. */
  argumentHash: text.optional(),
  choices: z.array(text).optional(),
  /** A connected account is wanted, with these rights: whoever answers is asked to connect it first. */
  consent: z.strictObject({ account: text, claims: z.array(text) }).optional(),
  /** When the request turns into a denial by itself. */
  deadline: z.number().optional(),
  /** The gate that held it, or the tool that asked. */
  gate: text.optional(),
  /** What may be allowed beyond this one action. Absent: nothing. */
  allowance: allowanceOffer.optional(),
});

const planStep = z.strictObject({ title: text, detail: text.optional() });

/**
 * Every fact that a log may hold: its payload's schema and version. The key order is the order of `docs/events.md`.
 *
 * A fact is stored once with a sequence number and never changed. To change a payload, raise its version and teach
 * `adapters/stores` to read the old one; the old log stays in `test/histories`.
 */
export const facts = {
  'io.input': { v: 1, payload: input, about: 'a person speaks, also in mid-turn' },
  'agent.turn.start': {
    v: 1,
    payload: z.strictObject({
      /** The whole agent, or only its digest when it is the one of the turn before. */
      agent: effectiveAgent.optional(),
      digest: text,
      resumed: z.boolean().optional(),
    }),
    about: 'a turn begins, or goes on in another process',
  },
  'agent.turn.end': {
    v: 1,
    payload: z.strictObject({
      status: z.enum(END_STATUSES),
      stop: z.enum(STOP_KINDS),
      iterations: count,
      /** Actions that came out `ok`. */
      toolCalls: count,
      usage,
      error: z.strictObject({ code: text, message: text }).optional(),
    }),
    about: 'a turn ends, exactly once',
  },
  'plan.request': { v: 1, payload: z.strictObject({ input: text }), about: 'a plan is wanted' },
  'plan.result': {
    v: 1,
    payload: z.strictObject({
      steps: z.array(planStep),
      summary: text.optional(),
      source: text,
      error: text.optional(),
    }),
    about: 'a planner answers',
  },
  'llm.request': {
    v: 1,
    payload: z.strictObject({
      model: modelRef.pick({ provider: true, model: true }),
      role: text,
      /** Counted from 1 within the iteration. */
      attempt: count,
      /** What the call is for; absent for the agent's own decision. */
      purpose: z.enum([...ASIDE_PURPOSES, 'wrap_up']).optional(),
      /** Digest of each section that differs from the request before it in this conversation; of an aside, its `prompt`. */
      sections: z.record(z.string(), text).optional(),
      choice: toolChoice.optional(),
      /** Which rule chose: absent when none did. */
      rule: z.enum(['override', 'sequence', 'static', 'fallback']).optional(),
      /** The uncached tail the model was shown. */
      announce: text.optional(),
      /** The tools that may be called, where a gate masked some. */
      allowed: z.array(text).optional(),
      /** Input tokens that a cache should give: those of the prompt that begins the same and was sent before. */
      expectedRead: count.optional(),
      /** Where cache markers were placed: after these parts of the prompt. */
      markers: z.array(text).optional(),
      /** Places that got none, and why. */
      unmarked: z.array(text).optional(),
      /** Messages a gate added for this call only. */
      notes: z.array(text).optional(),
    }),
    about: 'a model call is made',
  },
  'thinking.step': { v: 1, payload: thought, about: 'a reasoning part is complete' },
  'llm.response': {
    v: 1,
    payload: z.strictObject({
      content: z.array(block),
      stop: z.enum(STOP_KINDS),
      /** The provider's own word for it. */
      raw: text.optional(),
      usage,
      attempt: count,
      /** The model that answered, where the provider says so and it is not the one asked. */
      served: text.optional(),
      providerId: text.optional(),
      failure: failure.optional(),
      opaque: opaque.optional(),
      /** As in the request, for an aside: what it says is no decision. */
      purpose: z.enum(ASIDE_PURPOSES).optional(),
      /** A person stopped it in mid-answer: what it had said by then was shown, and stays with them. */
      kept: z.literal(true).optional(),
    }),
    about: 'a model call is over, also when it was cut',
  },
  'tool.invoke': {
    v: 1,
    payload: invocation.extend({
      argumentHash: text,
      effect,
      /** The action that asked for this one while it ran, as a program does that was given tools. */
      parent: action.optional(),
      /** A gate or a person changed what the model asked for. */
      revisedBy: by.optional(),
      /** Milliseconds until it is given up, where a gate says so. */
      timeoutMs: count.optional(),
      /** Nobody was asked, because somebody had allowed it before: the ids of the allowances. */
      allowedBy: z.array(text).optional(),
    }),
    about: 'an action is about to run: intent before effect',
  },
  'tool.result': {
    v: 1,
    payload: observation.extend({ action, parent: action.optional() }),
    about: 'the one observation of an action',
  },
  'hitl.requested': { v: 1, payload: held, about: 'a person is asked' },
  'hitl.responded': {
    v: 1,
    payload: z.strictObject({
      request,
      decision: z.enum(['allow', 'reject', 'edit', 'reply']),
      /** The new arguments of an `edit`. */
      arguments: json.optional(),
      /** The words of a `reply`. */
      text: text.optional(),
      /** A reason, which the model reads. */
      note: text.optional(),
      /** How far an `allow` reaches: absent, to this one action. */
      allow: z.enum(ALLOW_SCOPES).optional(),
      by,
      /** The key that it was sent with, so that a repetition is known as one when the question is long past. */
      key: text.optional(),
    }),
    about: 'a person answers',
  },
  'allowance.revoked': {
    v: 1,
    payload: z.strictObject({ allowance: text, by }),
    about: 'what was allowed for this conversation is asked for again',
  },
  'hitl.cancel': {
    v: 1,
    payload: z.strictObject({ request, reason: text }),
    about: 'a question is taken back or has expired',
  },
  'tool.register': {
    v: 1,
    payload: z.strictObject({ tools: z.array(toolDefinition) }),
    about: 'tools announce themselves',
  },
  'tool.loaded': {
    v: 1,
    payload: z.strictObject({ tools: z.array(text) }),
    about: 'deferred tools were found, and may be called from now on',
  },
  'tool.changed': {
    v: 1,
    payload: z.strictObject({
      /** The MCP server. */
      server: text,
      /** Names of tools as the model sees them. */
      added: z.array(text),
      removed: z.array(text),
      /** Described otherwise than in the turn before. */
      changed: z.array(text),
    }),
    about: 'a server has other tools than in the turn before',
  },
  'skill.loaded': {
    v: 1,
    payload: z.strictObject({ name: text, version: text.optional(), text }),
    about: "a skill's text enters the conversation",
  },
  'source.event': {
    v: 1,
    payload: z.strictObject({
      /** The service that it comes from, by its namespace. */
      source: text,
      /** As the source names it: one of that name is heard once. */
      id: text,
      text,
      /** When it happened, where the source says so. */
      at: z.number().optional(),
    }),
    about: 'something happened in a service that the agent listens to',
  },
  'source.pulled': {
    v: 1,
    payload: z.strictObject({
      source: text,
      /** Where the next reading goes on. */
      cursor: text.optional(),
      /** There was more than was taken; the next turn reads on. */
      isCut: z.literal(true).optional(),
      error: text.optional(),
    }),
    about: 'a service was asked for events when a turn began, and said where it goes on, or failed',
  },
  'memory.compact.request': {
    v: 1,
    payload: z.strictObject({
      /** `turns`: there are more than are shown. `window`: a gate found that the prompt does not fit. */
      why: z.enum(['size', 'cold', 'asked', 'turns', 'window']),
    }),
    about: 'compaction is wanted',
  },
  'memory.compacted': {
    v: 1,
    payload: z.strictObject({
      /** The last turn, by number, that the summary stands for. */ through: count,
      summary: text,
      error: text.optional(),
    }),
    about: 'older turns are replaced by a summary in what the model sees',
  },
  'memory.cleared': {
    v: 1,
    payload: z.strictObject({ /** Actions whose results the model is no longer shown. */ actions: z.array(action) }),
    about: 'old results leave what the model sees, and can be read back',
  },
  'agent.tool_choice': {
    v: 1,
    payload: z.strictObject({
      mode: toolChoiceMode.or(z.literal('any')),
      toolName: text.optional(),
      duration: z.enum(['once', 'sticky']),
    }),
    about: 'the next tool choice is overridden',
  },
  'gate.llm.retry': {
    v: 1,
    payload: z.strictObject({ afterMs: count.optional() }),
    about: 'a gate lets a held model call go',
  },
  'cancel.request': { v: 1, payload: z.strictObject({ by }), about: 'somebody wants the turn to stop' },
  'cancel.active': { v: 1, payload: z.strictObject({}), about: 'the worker saw it: no new effect starts' },
  'cancel.complete': { v: 1, payload: z.strictObject({}), about: 'every open action has its observation' },
  'cancel.resume': { v: 1, payload: z.strictObject({ by }), about: 'the cancelled turn goes on' },
  'io.output': { v: 1, payload: z.strictObject({ text, value: json.optional() }), about: "the turn's answer" },
  'gate.verdict': {
    v: 1,
    payload: z.strictObject({
      question: text,
      gate: text,
      verdict: z.enum(['deny', 'hold', 'revise']),
      reason: text.optional(),
      /** A stable word for programs, such as `max_iterations`. */
      code: text.optional(),
      action: action.optional(),
      /** It was said of an aside: the turn goes on without that. */
      purpose: z.enum(ASIDE_PURPOSES).optional(),
      /** Of a model call: it may be asked for again at this time. */
      retryAt: z.number().optional(),
      /** Of an answer: what the model is told, which is asked once more. */
      again: text.optional(),
    }),
    about: 'a gate denied, held or revised',
  },
  'selection.applied': {
    v: 1,
    payload: z.strictObject({
      digest: text,
      /** The whole of it, where it is not the one of the turn before. */
      selection: selection.optional(),
      /** Ids of deferred changes that count in this conversation from now on. */
      promoted: z.array(text).optional(),
    }),
    about: "the user's selection was used",
  },
  'selection.ignored': {
    v: 1,
    payload: z.strictObject({ why: text }),
    about: "the user's selection could not be read",
  },
  'cache.cold': {
    v: 1,
    payload: z.strictObject({
      /** In words. */
      what: text,
      /** Tokens that an unchanged prompt would have read from the cache, and those that were. */
      predicted: count,
      billed: count.optional(),
      /** `ours`: the prompt is another one. `expired`: it was left alone for too long. `provider`: its own word. */
      cause: z.enum(['ours', 'expired', 'provider', 'unknown']).optional(),
      /** For `ours`: the first part of the prompt that is another one. */
      section: text.optional(),
      /** For `ours`: what changed it. */
      change: z.enum(['model', 'selection', 'bundle', 'compaction', 'clearing', 'gate']).optional(),
    }),
    about: 'a warm prompt was cold',
  },
  'account.inactive': {
    v: 1,
    payload: z.strictObject({ tools: z.array(inactiveTool), account: text }),
    about: 'claims are unmet for this turn',
  },
  'account.reactivated': {
    v: 1,
    payload: z.strictObject({ tools: z.array(text), account: text }),
    about: 'claims are met again',
  },
  'memory.recalled': {
    v: 1,
    payload: z.strictObject({
      /** The hot ones, each on one line. The rest can be searched. */
      notes: z.array(z.strictObject({ id: text, text })),
      /** How many the user has. */
      total: z.number().int().min(0),
      /** Why none could be read. */
      problem: text.optional(),
    }),
    about: 'what the turn knows of earlier conversations',
  },
  'computation.started': {
    v: 1,
    payload: z.strictObject({
      action,
      /** What names the work outside: whoever hands in its result says it again. */
      ticket: text,
      /** What is worked on, for people. */
      note: text.optional(),
      /** When it counts as failed. */
      deadline: z.number().optional(),
    }),
    about: 'an action waits for work outside',
  },
  'computation.ended': {
    v: 1,
    payload: z.strictObject({
      ticket: text,
      outcome: z.enum(['ok', 'failed']),
      value: json.optional(),
      content: z.array(part).optional(),
      error: z.strictObject({ code: text, message: text }).optional(),
      by,
    }),
    about: 'the work outside has ended, or its time is over',
  },
  'subagent.started': {
    v: 1,
    payload: z.strictObject({
      conversation: text,
      agent: text,
      action: action.optional(),
      /** The part of this run's limits that the child may use up. */
      limits: runLimits.optional(),
    }),
    about: 'a child run begins',
  },
  'subagent.ended': {
    v: 1,
    payload: z.strictObject({
      conversation: text,
      status: z.enum(END_STATUSES),
      answer: text.optional(),
      error: z.strictObject({ code: text, message: text }).optional(),
      /** Of the child and of its own children. */
      tokens: count.optional(),
      actions: count.optional(),
    }),
    about: 'a child run ends',
  },
  'ceiling.set': {
    v: 1,
    payload: z.strictObject({
      /** Tools that the run does not have, whatever its agent is granted. */
      denied: z.array(text),
      /** Tools for which a person is asked each time. */
      ask: z.array(text),
      /** The run that delegated to this one. */
      by,
    }),
    about: 'a child run is told what its parent may not do either',
  },
  'limits.changed': {
    v: 1,
    payload: z.strictObject({ limits: runLimits, by }),
    about: 'what the run may use is set anew, in place of what was said before',
  },
} as const satisfies Record<string, { v: number; payload: z.ZodType; about: string }>;

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
