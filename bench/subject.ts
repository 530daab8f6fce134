/** How a subject is set up for one workload. */
export interface SubjectOptions {
  /** Of the local server that speaks Anthropic's dialect. Absent: the scripted model at the package's own interface. */
  readonly baseUrl?: string;
  /** What the scripted model waits before it answers. */
  readonly latencyMs: number;
  /** Registered tools; only the first is used. */
  readonly tools: number;
  /** Where every iteration must be stored. Absent: in memory. */
  readonly log?: { readonly file: string; readonly sync: 'normal' | 'full' };
  /** Called once for each tool run. */
  readonly onTool: () => void;
}

export interface Turn {
  readonly text: string;
  /** Turns of the same name continue each other. Absent: a conversation of one turn. */
  readonly conversation?: string;
}

/** A runtime under test, or the floor. */
export interface Subject {
  /** One turn, by calls that do not stream where there is a choice. Resolves to the answer. */
  run(turn: Turn): Promise<string>;
  stream(turn: Turn, onDelta: (text: string) => void): Promise<string>;
  /** Untimed, between batches: drop what finished conversations left behind. */
  tidy?(): Promise<void>;
  close(): void | Promise<void>;
}

/** What a subject's file exports. */
export interface SubjectModule {
  create(options: SubjectOptions): Promise<Subject>;
}
