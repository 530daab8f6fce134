import type { Instant } from '../base/clock.ts';
import type { Json } from '../base/json.ts';
import type { StandingScope } from '../domain/allowance.ts';
import type { AsidePurpose } from '../domain/aside.ts';
import type { Conversation } from '../domain/conversation.ts';
import type { EffectiveAgent } from '../domain/agent.ts';
import type { FactPayload } from '../domain/event.ts';
import type { ModelRequest } from '../domain/model.ts';
import type { Observation, ToolDefinition } from '../domain/tool.ts';

/** What each question shows its gates. A gate may answer with a changed payload of the same shape. */
export interface Questions {
  /** Before a message is accepted. */
  'before:io.input': FactPayload<'io.input'>;
  /** Before each model call: the rendered request, with its place in the turn. */
  'before:llm.request': {
    readonly request: ModelRequest;
    readonly iteration: number;
    readonly attempt: number;
    /** What the call is for; absent for the agent's own decision. */
    readonly purpose?: AsidePurpose | 'wrap_up';
    /** Messages for this call only, placed before announce. */
    readonly notes: readonly string[];
  };
  /**
   * Before what a model said counts: it is neither shown nor on record yet. A gate may change the texts, and not their
   * number. Denied, they are withheld; an answer that is withheld is refused.
   *
   * Thoughts and the arguments of actions are shown as they come, unless a gate is registered as one that `looksDeep`.
   */
  'before:llm.response': {
    readonly texts: readonly string[];
    /** What it thought. A signature goes with the words that it signs: other words go without. */
    readonly thoughts: readonly string[];
    /** The arguments of its actions as the model wrote them: text that is meant to be a JSON object. */
    readonly inputs: readonly string[];
    /** It asks for no action: it is to be the turn's answer. */
    readonly isAnswer: boolean;
    readonly purpose?: AsidePurpose | 'wrap_up';
  };
  /** Before each action, after its arguments were found valid. */
  'before:tool.invoke': {
    readonly action: string;
    readonly tool: ToolDefinition;
    readonly arguments: Json;
    /** Milliseconds until the run is given up; 0 for never. */
    readonly timeoutMs: number;
  };
  /** Before an observation counts. */
  'before:tool.result': {
    readonly action: string;
    readonly tool: ToolDefinition;
    readonly arguments: Json;
    readonly observation: Observation;
  };
  /** Before a person is asked. */
  'before:hitl.requested': FactPayload<'hitl.requested'>;
  /** Before the turn's answer is given. */
  'before:io.output': { readonly text: string; readonly value?: Json };
}

export type QuestionType = keyof Questions;

export const QUESTION_ABOUT: { readonly [Q in QuestionType]: string } = {
  'before:io.input': 'before a message is accepted',
  'before:llm.request': 'before each model call',
  'before:llm.response': 'before what a model said counts',
  'before:tool.invoke': 'per action, after its arguments were found valid',
  'before:tool.result': 'before an observation counts',
  'before:hitl.requested': 'before a person is asked',
  'before:io.output': "before the turn's answer is given",
};

export interface Deny {
  readonly verdict: 'deny';
  /** A sentence for whoever is refused, often the model. */
  readonly reason: string;
  /** A stable word for programs. */
  readonly code?: string | undefined;
  /** Of a model call: not before this time. The turn rests until then, and the gates are asked again. */
  readonly retryAt?: Instant | undefined;
  /** Of an answer: what the model is told, which is asked once more with the conversation as it stands. */
  readonly again?: string | undefined;
}

export interface Hold {
  readonly verdict: 'hold';
  /** What the person is asked. */
  readonly question: string;
  readonly choices?: readonly string[] | undefined;
  /** Milliseconds until no answer becomes a denial. */
  readonly expiresInMs?: number | undefined;
  /** What a yes may stand for beyond this one action. Absent: for nothing. */
  readonly remember?: Remember | undefined;
}

/** What a gate lets a person allow for more than one action. */
export interface Remember {
  readonly scopes: readonly StandingScope[];
  /** What the yes is about. The gate says the same of every action that it would be a yes to. */
  readonly subject: Json;
  /** The same in words, such as `every run of mail`. */
  readonly about: string;
}

export interface Revise<P> {
  readonly verdict: 'revise';
  readonly payload: P;
  readonly reason?: string | undefined;
}

/** A gate's answer. Nothing is consent. The set is closed: anything else a gate returns is a deny. */
export type Verdict<P> = Deny | Hold | Revise<P>;

export function deny(reason: string, code?: string): Deny {
  return { verdict: 'deny', reason, code };
}

/** Not now: the model call may be asked for again at that time. A gate that denies for good beats it. */
export function defer(reason: string, retryAt: Instant, code?: string): Deny {
  return { verdict: 'deny', reason, code, retryAt };
}

/** Not so: the model is told this, and asked once more. A gate that denies for good beats it. */
export function askAgain(reason: string, again: string, code?: string): Deny {
  return { verdict: 'deny', reason, code, again };
}

/** Ask a person first. An answer satisfies a hold and never a deny. Only actions can be held; elsewhere a hold is a deny. */
export function hold(question: string, options: Pick<Hold, 'choices' | 'expiresInMs' | 'remember'> = {}): Hold {
  return { verdict: 'hold', question, ...options };
}

/** Go on with another payload. It is validated again and judged by every other gate. */
export function revise<P>(payload: P, reason?: string): Revise<P> {
  return { verdict: 'revise', payload, reason };
}

/** What a gate may look at besides the payload. All of it is immutable. */
export interface GateContext {
  readonly conversation: Conversation;
  readonly agent: EffectiveAgent | undefined;
  /** Aborted when the gate took too long; its answer is then a deny whatever it says. */
  readonly signal: AbortSignal;
}

/** One gate's word, for the record. */
export interface GivenVerdict {
  readonly gate: string;
  readonly verdict: 'deny' | 'hold' | 'revise';
  readonly reason?: string | undefined;
  readonly code?: string | undefined;
  readonly retryAt?: Instant | undefined;
  readonly again?: string | undefined;
}

/** What the gates said together. Deny beats hold beats allow, whatever their order. */
export interface Judgement<P> {
  readonly outcome: 'allow' | 'hold' | 'deny';
  /** The payload to go on with: the last revision, or what was asked. */
  readonly payload: P;
  readonly denial?: Omit<Deny, 'verdict'> & { readonly gate: string };
  readonly holds: readonly (Hold & { readonly gate: string })[];
  /** The gate whose revision counts. */
  readonly revisedBy?: string | undefined;
  /** In the order given: priority, then registration. */
  readonly verdicts: readonly GivenVerdict[];
}
