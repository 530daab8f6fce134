import type { Json } from '../../base/json.ts';
import type { StandingScope } from '../../domain/allowance.ts';
import type { Part } from '../../domain/content.ts';
import type { PlanStep } from '../../domain/plan.ts';
import type { RunLimits } from '../../domain/run.ts';
import type { RunStatus, StatusKind, StopKind } from '../../domain/status.ts';
import type { Usage } from '../../domain/usage.ts';

/** ISO 8601 in UTC with milliseconds. Everything the run API says of time is one of these. */
export type IsoTime = string;

/** A decision that a person owes. It names what it is bound to: an answer repeats `id` and `digest`. */
export interface OpenRequest {
  /** Unique within its run. */
  readonly id: string;
  readonly kind: 'action' | 'plan' | 'input';
  readonly question: string;
  /** The run it belongs to: this one, or one below it. An answer given here or there is the same answer. */
  readonly run: string;
  /** Agents from the root down to the one that asks, joined by `/`. */
  readonly agentPath: string;
  /** SHA-256 of what the answer is about: the canonical arguments, the plan's steps, or the question. */
  readonly digest: string;
  readonly askedAt: IsoTime;
  /** The action's id, its tool, and exactly what would run. */
  readonly action?: string;
  /** The action whose program asks for this one. */
  readonly parent?: string;
  readonly name?: string;
  readonly arguments?: Json;
  /** JSON Schema that the tool's arguments fit: what an edit has to fit, too. */
  readonly inputSchema?: Json;
  /** What the tool shows of what would happen, such as a diff. */
  readonly preview?: readonly Part[];
  /** The steps of a plan; of an action that keeps one, the steps as they would be. */
  readonly plan?: readonly PlanStep[];
  /** Of an action that keeps a plan: the steps as they stand. */
  readonly planBefore?: readonly PlanStep[];
  /** What a plan is for, in its planner's words. */
  readonly summary?: string;
  readonly choices?: readonly string[];
  /** It asks for a connected account: the user connects it first, and then answers. */
  readonly consent?: { readonly account: string; readonly claims: readonly string[] };
  readonly expiresAt?: IsoTime;
  /** The gates that held it. */
  readonly gate?: string;
  /** How far an `allow` may reach, and what it is then a yes to. Absent: to this one action. */
  readonly allowance?: { readonly scopes: readonly StandingScope[]; readonly about: string };
  /** What may be answered. */
  readonly decisions: readonly ('allow' | 'reject' | 'edit' | 'reply')[];
}

/** Something that has to happen elsewhere before the run goes on. */
export type WaitingOn =
  | { readonly kind: 'action' | 'plan' | 'input'; readonly request: string; readonly run: string }
  /** A gate has put the next model call off. */
  | { readonly kind: 'gate'; readonly gate: string; readonly until: IsoTime }
  | { readonly kind: 'computation'; readonly ticket: string; readonly action: string; readonly until?: IsoTime }
  | { readonly kind: 'subagent'; readonly run: string; readonly action?: string };

export interface ChildRun {
  readonly id: string;
  readonly agent: string;
  /** The parent's action that began it. */
  readonly action?: string;
  readonly status: RunStatus;
}

/** Money as text: a binary fraction would round it. */
export interface Cost {
  /** Decimal, such as `0.0421`. */
  readonly amount: string;
  readonly currency: 'USD';
}

/** A run at one moment. `version` grows with every change, so that two reads, a page's too, can be ordered. */
export interface Snapshot {
  readonly id: string;
  /** The name it has among all agents that are served; the declared one where its bundle is not served. */
  readonly agent: string;
  /** Id of the bundle, or its path where the conversation is from before bundles were matched by id. */
  readonly bundle: string;
  readonly status: RunStatus;
  readonly statusKind: StatusKind;
  /** Ended. Not the same as success: only `completed` is. */
  readonly terminal: boolean;
  readonly waitingOn: readonly WaitingOn[];
  /** Why the last turn ended. Absent while one is open. */
  readonly stopReason?: StopKind;
  /** The first thing said. */
  readonly prompt: string;
  readonly title: string;
  readonly turns: number;
  readonly createdAt: IsoTime;
  readonly updatedAt: IsoTime;
  /** When the run, or one below it that it waits for, last got on. Restarts and leases do not move it. */
  readonly lastProgressAt: IsoTime;
  readonly version: number;
  /** Tokens of every model call so far. A part that no provider reported is absent. */
  readonly usage: Usage;
  /** Absent means unknown, not free. */
  readonly cost?: Cost;
  readonly limits: RunLimits;
  readonly metadata: Readonly<Record<string, string>>;
  readonly parent?: { readonly id: string; readonly action: string };
  readonly children: readonly ChildRun[];
  /** Open ones only, those of runs below included. */
  readonly requests: readonly OpenRequest[];
  readonly archivedAt?: IsoTime;
  /** The last turn's answer, where it gave one. */
  readonly answer?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** A run in a list. */
export interface RunSummary {
  readonly id: string;
  readonly agent: string;
  readonly bundle: string;
  readonly userId: string;
  readonly status: RunStatus;
  readonly statusKind: StatusKind;
  readonly terminal: boolean;
  readonly title: string;
  readonly createdAt: IsoTime;
  readonly updatedAt: IsoTime;
  readonly metadata: Readonly<Record<string, string>>;
  readonly parent?: { readonly id: string; readonly action: string };
  readonly archivedAt?: IsoTime;
}
