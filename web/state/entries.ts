import type { ActionData, CallData, WireEntry } from '../api/types.ts';

/** The data of an entry, by its role: the server's own description of it. */
interface EntryData {
  readonly user: { readonly mode: 'message' | 'followup' | 'steer'; readonly by?: string };
  readonly assistant: { readonly final: boolean; readonly cut?: true };
  readonly action: ActionData;
  readonly call: CallData;
  readonly plan: {
    readonly steps: readonly {
      readonly title: string;
      readonly detail?: string;
      readonly status?: 'doing' | 'done' | 'failed' | 'skipped';
      readonly note?: string;
    }[];
    readonly source: string;
    readonly editedBy?: string;
    readonly requests: readonly { readonly answer?: unknown; readonly cancelled?: string }[];
  };
  readonly notice: { readonly kind: string; readonly by?: string };
  readonly end: {
    readonly status: string;
    readonly stop: string;
    readonly iterations: number;
    readonly toolCalls: number;
    readonly usage: CallData['usage'];
    readonly error?: { readonly code: string; readonly message: string };
    readonly ms: number;
  };
}

export function dataOf<R extends keyof EntryData>(entry: WireEntry, role: R): EntryData[R] | undefined {
  return entry.role === role ? (entry.data as EntryData[R]) : undefined; // the role says which
}

/** An action that marked or revised steps of the plan, and nothing else. One that went wrong is shown as any other. */
export function keepsPlan(entry: WireEntry): boolean {
  const action = dataOf(entry, 'action');
  return action?.name === 'plan_update' && action.observation?.outcome === 'ok';
}

/** One exchange: what was said, the work on it, and the answer. */
export interface Turn {
  /** Its first entry's: it stays when the message that began it gets its number. */
  readonly id: string;
  readonly number: number | undefined;
  readonly said: readonly WireEntry[];
  /** Everything between question and answer, in order. */
  readonly work: readonly WireEntry[];
  readonly answer: WireEntry | undefined;
  readonly end: WireEntry | undefined;
}

/** Entries by turn; what no turn has begun on comes last. */
export function turnsOf(entries: readonly WireEntry[]): readonly Turn[] {
  const turns: { number: number | undefined; entries: WireEntry[] }[] = [];
  for (const entry of entries) {
    const last = turns.at(-1);
    if (last !== undefined && last.number === entry.turn) last.entries.push(entry);
    else turns.push({ number: entry.turn, entries: [entry] });
  }
  return turns.map(({ number, entries: own }) => {
    const said = own.filter(
      (one, index) => one.role === 'user' && own.slice(0, index).every((it) => it.role === 'user'),
    );
    const end = own.findLast((one) => one.role === 'end');
    // Of a turn that was stopped in mid-answer, what had been said stays in the place of the answer.
    const answer =
      own.findLast((one) => dataOf(one, 'assistant')?.final === true) ??
      (end === undefined ? undefined : own.findLast((one) => dataOf(one, 'assistant')?.cut === true));
    return {
      id: own[0]?.id ?? '',
      number,
      said,
      work: own.filter((one) => !said.includes(one) && one !== answer && one.role !== 'end'),
      answer,
      end,
    };
  });
}
