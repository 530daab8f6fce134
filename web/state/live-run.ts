import type { Frame, WireEntry } from '../api/types.ts';

export type StatusFrame = Extract<Frame, { type: 'status' }>;

/** What has come so far of an entry that is being made. */
export interface Draft {
  readonly id: string;
  readonly kind: 'text' | 'thinking' | 'action';
  readonly attempt: number;
  readonly text: string;
  readonly name: string | undefined;
}

/** A run as this tab knows it. */
export interface LiveRun {
  /** In the order of the conversation. */
  readonly entries: readonly WireEntry[];
  readonly drafts: readonly Draft[];
  /** The last word of each running action. */
  readonly progress: Readonly<Record<string, string>>;
  readonly status: StatusFrame | undefined;
  readonly activity: string | undefined;
  /** Goes on after what is here. */
  readonly cursor: string | undefined;
  /** Pieces that were let go because this reader was too slow. Whole entries come all the same. */
  readonly dropped: number;
}

export const emptyRun: LiveRun = {
  entries: [],
  drafts: [],
  progress: {},
  status: undefined,
  activity: undefined,
  cursor: undefined,
  dropped: 0,
};

/** The run after some more frames. Frames that come twice change nothing. */
export function heard(run: LiveRun, frames: readonly Frame[]): LiveRun {
  let next = run;
  for (const frame of frames) next = hear(next, frame);
  return next;
}

function hear(run: LiveRun, frame: Frame): LiveRun {
  switch (frame.type) {
    case 'entry':
      return {
        ...run,
        cursor: frame.cursor,
        entries: placed(run.entries, frame.entry),
        drafts: run.drafts.filter((one) => one.id !== frame.entry.id),
      };
    case 'delta':
      return frame.kind === 'progress'
        ? { ...run, progress: { ...run.progress, [frame.id]: frame.delta } }
        : drafted(run, frame, frame.kind);
    case 'activity':
      return { ...run, activity: frame.state === 'idle' ? undefined : (frame.detail ?? frame.state) };
    case 'status':
      if (run.status !== undefined && frame.version < run.status.version) return run;
      return {
        ...run,
        status: frame,
        cursor: frame.cursor,
        // A turn that has ended leaves nothing half made.
        ...(frame.terminal ? { drafts: [], progress: {}, activity: undefined } : {}),
      };
    case 'gap':
      return { ...run, dropped: run.dropped + frame.dropped, drafts: [] };
    case 'end':
      return { ...run, cursor: frame.cursor, drafts: [], progress: {}, activity: undefined };
  }
}

/** Entries stay in order of position; one that is known gives way to its newer self. */
function placed(entries: readonly WireEntry[], entry: WireEntry): readonly WireEntry[] {
  const last = entries.at(-1);
  if (last === undefined || last.position < entry.position) return [...entries, entry];
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.position ?? Infinity) < entry.position) low = middle + 1;
    else high = middle;
  }
  const known = entries[low];
  if (known?.id !== entry.id) return entries.toSpliced(low, 0, entry);
  return known.revision >= entry.revision && known.digest === entry.digest ? entries : entries.with(low, entry);
}

function drafted(run: LiveRun, frame: Extract<Frame, { type: 'delta' }>, kind: Draft['kind']): LiveRun {
  if (run.entries.some((one) => one.id === frame.id && one.role !== 'action')) return run;
  const index = run.drafts.findIndex((one) => one.id === frame.id);
  const known = run.drafts[index];
  if (known !== undefined && known.attempt > frame.attempt) return run;
  const before = known?.attempt === frame.attempt ? known.text : '';
  const draft = { id: frame.id, kind, attempt: frame.attempt, text: before + frame.delta, name: frame.name };
  // A new attempt makes everything of the one before void.
  const others = run.drafts.filter((one) => one.attempt >= frame.attempt || one.id === frame.id);
  return {
    ...run,
    drafts: known === undefined ? [...others, draft] : others.map((one) => (one.id === frame.id ? draft : one)),
  };
}
