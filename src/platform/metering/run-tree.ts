import { isPromise, type MaybePromise } from '../../base/promise.ts';
import type { Spender } from '../../kernel/ledger.ts';
import type { ConversationMeta, Log } from '../../kernel/log.ts';
import { BoundedMap } from '../bounded-map.ts';

/** Who pays for a run: what its row says and never changes. */
export interface Payer extends Spender {
  readonly meta: ConversationMeta;
}

export interface RunTree {
  /** Undefined for a conversation that is gone. */
  payer(conversationId: string): MaybePromise<Payer | undefined>;
}

const KNOWN_MAX = 5_000;
/** Runs above one another. A chain that is longer is a circle. */
const DEEPEST = 100;

/** Runs with those above them, each looked up once. */
export function createRunTree(log: Pick<Log, 'find'>): RunTree {
  const known = new BoundedMap<string, Payer>(KNOWN_MAX);

  function payer(id: string, depth = 0): MaybePromise<Payer | undefined> {
    const before = known.get(id);
    if (before !== undefined) return before;
    const found = log.find(id);
    const withRow = (meta: ConversationMeta | undefined): MaybePromise<Payer | undefined> => {
      if (meta === undefined) return undefined;
      if (meta.parent === undefined || depth > DEEPEST) return keep(meta, []);
      const above = payer(meta.parent.id, depth + 1);
      return isPromise(above) ? above.then((one) => keep(meta, one?.runs ?? [])) : keep(meta, above?.runs ?? []);
    };
    return isPromise(found) ? found.then(withRow) : withRow(found);
  }

  function keep(meta: ConversationMeta, above: readonly string[]): Payer {
    const { id, tenant, userId, agent, bundle } = meta;
    const made: Payer = { conversationId: id, tenant, userId, agent, bundle, runs: [id, ...above], meta };
    known.set(id, made);
    return made;
  }

  return { payer: (id) => payer(id) };
}
