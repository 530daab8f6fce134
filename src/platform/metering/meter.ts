import type { Clock } from '../../base/clock.ts';
import { isPromise, type MaybePromise } from '../../base/promise.ts';
import type { Fact, FactOf } from '../../domain/event.ts';
import type { Bus } from '../../kernel/bus.ts';
import type { Ledger, LedgerEntry } from '../../kernel/ledger.ts';
import type { Log } from '../../kernel/log.ts';
import type { Logger } from '../../kernel/logger.ts';
import { createPriceList, type PriceList } from '../../adapters/prices/price-list.ts';
import type { DeclaredPrices } from '../../domain/price.ts';
import { EntryMaker, type Guess } from './entries.ts';
import { createRunTree, type RunTree } from './run-tree.ts';

export interface MeterOptions {
  readonly ledger: Ledger;
  readonly log: Log;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What a call has set aside in this process, until it is counted. */
export interface Pending {
  readonly id: string;
  readonly guess: Guess;
}

/** Brings what happens into the ledger. */
export interface Meter {
  readonly ledger: Ledger;
  readonly tree: RunTree;
  readonly log: Pick<Log, 'read'>;
  /** Counts what is delivered from now on. The returned function ends it. */
  attach(bus: Pick<Bus, 'on'>, prices: PriceList): () => void;
  /**
   * Counts what a process that died had not: of the conversations that were last active, until none of a page lacks
   * anything. `pricesOf` is asked with what a conversation says of its bundle.
   */
  catchUp(pricesOf?: (bundle: string) => PriceList): Promise<void>;
  /** A call has set something aside: it is let go once the call is counted. */
  expect(conversationId: string, pending: Pending): void;
  /** Resolves when all but the named call are counted, or after a second. Undefined: they are. */
  counted(conversationId: string, except: string): Promise<void> | undefined;
}

/** Id of a model call among those of its conversation. */
export function callId(turnId: string, iteration: number, attempt: number, aside?: string): string {
  return `${turnId}/${iteration}/${attempt}${aside === undefined ? '' : `/${aside}`}`;
}

/** What is under way with one conversation; there is none while nothing is. */
interface State {
  readonly maker: EntryMaker;
  /** Made and not yet in the ledger. */
  waiting: LedgerEntry[];
  settles: string[];
  pending: readonly Pending[];
  waiters: (() => void)[];
  /** The last piece of work, while it is not done. */
  tail: Promise<void> | undefined;
}

const PAGE = 500;
const ROWS = 100;
const PATIENCE_MS = 1_000;

/**
 * One process's meter: hears what is delivered, and reads in the log what others had left uncounted when a slice begins.
 *
 * An entry that the ledger will not take is kept and offered again with the next one; if the process dies with it, the next
 * slice reads it in the log.
 */
export function createMeter({ ledger, log, clock, logger }: MeterOptions): Meter {
  const tree = createRunTree(log);
  const states = new Map<string, State>();
  /** Conversations that may have something set aside. */
  const holding = new Set<string>();

  function stateOf(id: string): State {
    let state = states.get(id);
    if (state === undefined) {
      state = { maker: new EntryMaker(), waiting: [], settles: [], pending: [], waiters: [], tail: undefined };
      states.set(id, state);
    }
    return state;
  }

  /** One fact of a conversation after another, also where the ledger takes its time. */
  function hear(fact: Fact, prices: PriceList): MaybePromise<void> {
    const id = fact.conversationId;
    const state = stateOf(id);
    const done =
      state.tail === undefined ? take(fact, state, prices) : state.tail.then(() => take(fact, state, prices));
    if (!isPromise(done)) {
      told(id, state);
      return undefined;
    }
    const tail = done
      .catch((error: unknown) => {
        logger.error('what a run has spent could not be counted', { conversation: id, fact: fact.seq, error });
      })
      .then(() => {
        if (state.tail === tail) state.tail = undefined;
        told(id, state);
      });
    state.tail = tail;
    return tail;
  }

  function told(id: string, state: State): void {
    for (const waiter of state.waiters.splice(0)) waiter();
    const { waiting, settles, pending, waiters, tail, maker } = state;
    const isIdle =
      tail === undefined && !maker.isOpen && [waiting, settles, pending, waiters].every((one) => one.length === 0);
    if (isIdle) states.delete(id);
  }

  function take(fact: Fact, state: State, prices: PriceList): MaybePromise<void> {
    switch (fact.type) {
      case 'agent.turn.start':
        return takeUp(fact, prices);
      case 'agent.turn.end':
        return over(fact, state);
      default: {
        const call = fact.type === 'llm.response' ? pendingOf(state, fact) : undefined;
        const entry = state.maker.entry(fact, prices, call?.guess);
        if (call !== undefined) settle(fact.conversationId, state, call);
        if (fact.type === 'tool.invoke') state.settles.push(fact.payload.action);
        if (entry === undefined) return undefined;
        state.waiting.push(entry);
        return flush(fact.conversationId, state, fact.seq);
      }
    }
  }

  function pendingOf(
    { pending }: State,
    { turnId = '', iteration = 0, payload }: FactOf<'llm.response'>,
  ): Pending | undefined {
    const id = callId(turnId, iteration, payload.attempt, payload.purpose);
    return pending.find((one) => one.id === id);
  }

  function settle(id: string, state: State, call: Pending): void {
    state.pending = state.pending.filter((one) => one !== call);
    state.settles.push(call.id);
    if (state.pending.length === 0) holding.delete(id); // counting it lets go of it
  }

  function flush(id: string, state: State, through: number): MaybePromise<void> {
    const entries = state.waiting;
    const settles = state.settles.map((one) => `${id}/${one}`);
    const add = (payer: Awaited<ReturnType<RunTree['payer']>>): MaybePromise<void> => {
      const added = payer === undefined ? undefined : ledger.add(payer, entries, { through, settles });
      const done = (): void => {
        // More may have come while this was on its way.
        state.waiting = state.waiting.slice(entries.length);
        state.settles = state.settles.slice(settles.length);
      };
      if (isPromise(added)) return added.then(done);
      done();
      return undefined;
    };
    const payer = tree.payer(id);
    return isPromise(payer) ? payer.then(add) : add(payer);
  }

  async function over(fact: FactOf<'agent.turn.end'>, state: State): Promise<void> {
    const id = fact.conversationId;
    if (state.waiting.length > 0 || state.settles.length > 0) {
      const flushed = flush(id, state, fact.seq);
      if (isPromise(flushed)) await flushed;
    }
    state.pending = [];
    if (!holding.delete(id)) return;
    const released = ledger.release(id);
    if (isPromise(released)) await released;
  }

  /**
   * Counts what stands in the log after the ledger's position, up to a fact. The position goes no further than to the last
   * fact that cost something: the request of a call that is under way must be read again with its answer.
   */
  async function readUp(id: string, through: number, prices: PriceList): Promise<number> {
    let found = 0;
    const maker = new EntryMaker();
    for (let read = await ledger.position(id); read < through;) {
      const facts = await log.read(id, read, PAGE);
      const last = facts.at(-1);
      if (last === undefined) break;
      const entries: LedgerEntry[] = [];
      for (const fact of facts) {
        if (fact.seq > through) break;
        const entry = maker.entry(fact, prices);
        if (entry !== undefined) entries.push(entry);
      }
      read = last.seq;
      const end = entries.at(-1);
      const payer = end === undefined ? undefined : await tree.payer(id);
      if (end === undefined || payer === undefined) continue;
      await ledger.add(payer, entries, { through: end.seq });
      found += entries.length;
    }
    return found;
  }

  async function takeUp(
    { conversationId: id, seq, payload }: FactOf<'agent.turn.start'>,
    prices: PriceList,
  ): Promise<void> {
    if (payload.resumed === true) holding.add(id); // whoever had it may have set something aside
    await readUp(id, seq - 1, prices);
  }

  return {
    ledger,
    tree,
    log,
    attach(bus, prices) {
      const listen = (fact: Fact): MaybePromise<void> => hear(fact, prices);
      const options = { source: 'meter', patient: true };
      const ends = HEARD.map((type) => bus.on(type, listen, options));
      return () => {
        for (const end of ends) end();
      };
    },
    async catchUp(pricesOf = () => defaultPrices()) {
      for (let before: Awaited<ReturnType<Log['list']>>[number] | undefined; ;) {
        const rows = await log.list({ limit: ROWS, before, archived: 'any' });
        let lacking = 0;
        for (const row of rows) {
          try {
            lacking += await readUp(row.id, row.head, pricesOf(row.bundle));
          } catch (error) {
            logger.error('the spending of a conversation could not be counted', { conversation: row.id, error });
          }
        }
        before = rows.at(-1);
        if (rows.length < ROWS || lacking === 0) return;
      }
    },
    expect(conversationId, pending) {
      holding.add(conversationId);
      const state = stateOf(conversationId);
      state.pending = [...state.pending.filter((one) => one.id !== pending.id), pending];
    },
    counted(conversationId, except) {
      const state = states.get(conversationId);
      if (state === undefined) return undefined;
      const isOpen = (): boolean =>
        state.tail !== undefined || state.settles.length > 0 || state.pending.some((one) => one.id !== except);
      if (!isOpen()) return undefined;
      return new Promise((resolve) => {
        const finish = (): void => {
          off();
          resolve();
        };
        const off = clock.after(PATIENCE_MS, finish);
        const again = (): void => {
          if (isOpen()) state.waiters.push(again);
          else finish();
        };
        state.waiters.push(again);
      });
    },
  };
}

const HEARD = ['agent.turn.start', 'agent.turn.end', 'llm.request', 'llm.response', 'tool.invoke'] as const;

let shared: PriceList | undefined;

function defaultPrices(): PriceList {
  return (shared ??= createPriceList());
}

/** The shipped prices with those of a bundle over them. */
export function pricesOf(bundle: { readonly prices?: DeclaredPrices | undefined }): PriceList {
  return bundle.prices === undefined ? defaultPrices() : createPriceList(bundle.prices);
}
