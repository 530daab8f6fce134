import { isPromise, type MaybePromise } from '../../base/promise.ts';
import type { Conversation } from '../../domain/conversation.ts';
import type { RunLimits } from '../../domain/run-limits.ts';
import type { Log } from '../../kernel/log.ts';
import { BoundedMap } from '../bounded-map.ts';
import type { Payer, RunTree } from './run-tree.ts';

export interface LimitsReader {
  /** Limits of a run and of those above it, as they are now. */
  read(payer: Payer, conversation: Conversation): MaybePromise<(runId: string) => RunLimits | undefined>;
}

/** The last limits that a log was seen to state, and how far it was read. */
interface Seen {
  readonly head: number;
  readonly limits: RunLimits | undefined;
}

const KNOWN_MAX = 1_000;
const PAGE = 500;

/** A run's own limits are in its fold; those of the runs above it are read in their logs, from where they were left. */
export function createLimitsReader(tree: RunTree, log: Pick<Log, 'read'>): LimitsReader {
  const known = new BoundedMap<string, Seen>(KNOWN_MAX);

  async function above(id: string): Promise<RunLimits | undefined> {
    let seen = known.get(id) ?? { head: 0, limits: undefined };
    for (;;) {
      const facts = await log.read(id, seen.head, PAGE);
      const last = facts.at(-1);
      if (last === undefined) break;
      const changed = facts.findLast((fact) => fact.type === 'limits.changed');
      seen = { head: last.seq, limits: changed?.payload.limits ?? seen.limits };
      known.set(id, seen);
      if (facts.length < PAGE) break;
    }
    if (seen.limits !== undefined) return seen.limits;
    const found = tree.payer(id);
    return (isPromise(found) ? await found : found)?.meta.limits;
  }

  async function readAll(
    own: string,
    limits: RunLimits,
    ids: readonly string[],
  ): Promise<(id: string) => RunLimits | undefined> {
    const all = new Map<string, RunLimits | undefined>([[own, limits]]);
    for (const id of ids) all.set(id, await above(id));
    return (id) => all.get(id);
  }

  return {
    read({ runs }, { limits }) {
      const [own = '', ...ids] = runs;
      return ids.length === 0 ? (id) => (id === own ? limits : undefined) : readAll(own, limits, ids);
    },
  };
}
