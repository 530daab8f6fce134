/** A part of a prompt that is another one. The texts are those around what changed. */
export interface SectionDifference {
  /** `instructions`, `tools`, `past turns`, `this turn`, `announce`; also `model`, `tool choice`, `allowed tools`, `call`. */
  readonly section: string;
  /** In a sentence. */
  readonly what: string;
  readonly before: string;
  readonly after: string;
}

export interface ComparedCall {
  /** Over the run, from 1, attempts counted. */
  readonly n: number;
  readonly turn: number;
  readonly iteration: number;
  readonly attempt: number;
  readonly same: boolean;
  readonly differences: readonly SectionDifference[];
}

/** What became of an action, in words; absent where there was no such action. */
export interface ActionDifference {
  readonly action: string;
  readonly name: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** What gates said about one thing, in words; absent where they said nothing. */
export interface VerdictDifference {
  readonly turn: number;
  readonly question: string;
  readonly action?: string | undefined;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

export interface TurnEnd {
  readonly status: string;
  readonly stop: string;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly answer?: string | undefined;
}

export interface ComparedEnd {
  readonly turn: number;
  readonly same: boolean;
  /** Absent while the turn has not ended. */
  readonly before?: TurnEnd | undefined;
  readonly after?: TurnEnd | undefined;
}

/** Where a replay asked for something else than the run had. */
export interface ReplayReport {
  readonly run: string;
  /** By what it was replayed: what its own log says, or another bundle. */
  readonly rules: 'recorded' | 'bundle';
  readonly same: boolean;
  /** Every model call of the run. */
  readonly calls: readonly ComparedCall[];
  /** Those that are different. */
  readonly actions: readonly ActionDifference[];
  readonly verdicts: readonly VerdictDifference[];
  /** Every turn of the run. */
  readonly ended: readonly ComparedEnd[];
  /** A model call that the run had not made: nobody knows what would have come of it, and the replay ended there. */
  readonly beyond?: { readonly turn: number; readonly iteration: number } | undefined;
  /** What the comparison left out or took for granted, in sentences. */
  readonly notes: readonly string[];
}
