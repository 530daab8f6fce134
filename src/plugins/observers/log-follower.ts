import { isoTime, type Clock, type Instant } from '../../base/clock.ts';
import type { Fact } from '../../domain/event.ts';
import type { LogReader } from '../../kernel/plugin.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Sent } from '../../kernel/webhook.ts';

/** Where it is kept how far conversations came that are behind, so that another process can go on. */
export interface Cursors {
  all(): Promise<readonly { readonly conversation: string; readonly after: number }[]>;
  keep(conversation: string, after: number): Promise<void>;
  drop(conversation: string): Promise<void>;
  /** Keeps what was given up where people see it; says where. */
  bury(given: GivenUp): Promise<string>;
}

export interface GivenUp {
  readonly conversation: string;
  /** The place before the first of them: from there they can be told anew. */
  readonly after: number;
  readonly through: number;
  readonly facts: number;
  readonly why: string;
  readonly at: string;
}

export interface FollowerOptions {
  readonly log: LogReader;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly wants: (fact: Fact) => boolean;
  /** Never rejects. */
  readonly send: (fact: Fact) => Promise<Sent>;
  /** Milliseconds after it was stated until a fact that nobody takes is given up. */
  readonly giveUpMs: number;
  readonly cursors?: Cursors | undefined;
  /** From 0 to 1, so that many who wait do not come back together. */
  readonly fraction: () => number;
}

export interface LogFollower {
  /** There is something new up to `seq`. Returns at once. */
  heard(conversationId: string, seq: number): void;
  /** Resolves when nothing is on its way and nothing is left but what waits to be tried again. */
  quiet(): Promise<void>;
  /** Keeps how far it is with all that is left, where that can be kept. */
  keep(): Promise<void>;
  stop(): void;
}

/** A conversation that has facts to tell. Which ones is in the log; here is only how far it is. */
interface Behind {
  /** Everything up to it was told. Unknown at first. */
  cursor: number | undefined;
  heard: number;
  failures: number;
  busy: boolean;
  /** It is among the cursors. */
  kept: boolean;
  /** Takes the next attempt back. */
  cancel: (() => void) | undefined;
}

const PAGE = 100;
const AT_ONCE = 4;
const MOST_BEHIND = 10_000;
const MOST_RESTING = 10_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 300_000;
/** An endpoint may ask for as much. */
const LONGEST_ASKED_MS = 3_600_000;

/**
 * Tells facts to somebody who may be slow or away: in order within a conversation, each until it is taken or too old. It
 * keeps how far it came and no fact: what is to be told is read from the log when its time comes.
 *
 * A conversation that it hears of for the first time, or that it has forgotten, begins with the turn that is under way, so
 * that what another process may have left untold is told, some of it twice.
 */
export function followLog({
  log,
  clock,
  logger,
  wants,
  send,
  giveUpMs,
  cursors,
  fraction,
}: FollowerOptions): LogFollower {
  const behind = new Map<string, Behind>();
  const resting = new Map<string, Pick<Behind, 'kept'> & { readonly cursor: number }>();
  const queue = new Set<string>();
  let running = 0;
  let over = false;
  let hasBegun = cursors === undefined;
  const waiting: (() => void)[] = [];

  cursors
    ?.all()
    .then((left) => {
      for (const { conversation, after } of left) {
        const known = behind.get(conversation);
        if (known !== undefined) Object.assign(known, { cursor: after, kept: true });
        else add(conversation, { cursor: after, heard: after + 1, kept: true });
      }
    })
    .catch((error: unknown) => logger.error('what an observer had left untold could not be read', { error }))
    .finally(() => {
      hasBegun = true;
      go();
      settleIfQuiet();
    });

  function add(id: string, one: Pick<Behind, 'cursor' | 'heard' | 'kept'>): void {
    if (over) return;
    if (behind.size >= MOST_BEHIND) makeRoom();
    behind.set(id, { ...one, failures: 0, busy: false, cancel: undefined });
    queue.add(id);
  }

  function isQuiet(): boolean {
    return hasBegun && running === 0 && queue.size === 0;
  }

  function settleIfQuiet(): void {
    if (isQuiet()) for (const resolve of waiting.splice(0)) resolve();
  }

  function go(): void {
    if (!hasBegun) return;
    for (const id of queue) {
      if (running >= AT_ONCE) return;
      queue.delete(id);
      const one = behind.get(id);
      if (one === undefined) continue;
      running++;
      one.busy = true;
      one.cancel = undefined;
      tell(id, one)
        .catch((error: unknown) => {
          if (!over) failed(id, one, error instanceof Error ? error.message : String(error));
        })
        .finally(() => {
          one.busy = false;
          running--;
          go();
          settleIfQuiet();
        });
    }
  }

  async function tell(id: string, one: Behind): Promise<void> {
    await Promise.resolve(); // whoever states a fact does not wait for it to be read
    one.cursor ??= await turnBegin(log, id, one.heard);
    const page = await log.read(id, one.cursor, PAGE);
    for (const fact of page) {
      if (over) return;
      // On record before the first attempt: a crash in the middle of it loses nothing.
      if (wants(fact) && !one.kept) await keepOne(id, one);
      const sent: Sent = wants(fact) ? await send(fact) : { state: 'taken' };
      if (sent.state === 'gone') {
        logger.error('an observer has nobody to tell any more, and stops', { conversation: id });
        stop();
        return;
      }
      if (sent.state === 'failed') {
        await giveUpOld(id, one, page, sent.why);
        await keepOne(id, one);
        failed(id, one, sent.why, sent.retryAfterMs);
        return;
      }
      one.cursor = fact.seq;
      one.failures = 0;
    }
    const isAtEnd = page.length === 0 || one.cursor >= one.heard;
    // While a turn is under way its place is left where it is: told from there, some comes twice.
    if (isAtEnd && one.kept && page.at(-1)?.type === 'agent.turn.end') {
      await cursors?.drop(id);
      one.kept = false;
    }
    if (page.length > 0 && one.cursor < one.heard) queue.add(id);
    else rest(id, one.cursor, one.kept);
  }

  async function keepOne(id: string, one: Behind): Promise<void> {
    if (cursors === undefined) return;
    try {
      await cursors.keep(id, one.cursor ?? (await turnBegin(log, id, one.heard)));
      one.kept = true;
    } catch (error) {
      logger.warn('an observer could not keep how far it is', { conversation: id, error });
    }
  }

  async function giveUpOld(id: string, one: Behind, page: readonly Fact[], why: string): Promise<void> {
    if (over) return;
    const oldest: Instant = clock.now() - giveUpMs;
    const untold = page.filter(({ seq }) => seq > (one.cursor ?? 0));
    const fresh = untold.findIndex(({ at }) => at > oldest);
    const old = (fresh < 0 ? untold : untold.slice(0, fresh)).filter(wants);
    const last = old.at(-1);
    if (last === undefined) return;
    const after = one.cursor ?? 0;
    one.cursor = last.seq;
    const given = { conversation: id, after, through: last.seq, facts: old.length, why, at: isoTime(clock.now()) };
    const place = await cursors?.bury(given).catch((error: unknown) => {
      logger.warn('an observer could not keep what it gave up', { conversation: id, error });
    });
    const where = place === undefined ? {} : { place };
    logger.error('an observer gave facts up that nobody took', {
      ...{ conversation: id, facts: old.length, last: last.id, ...where },
    });
  }

  function failed(id: string, one: Behind, why: string, askedMs = 0): void {
    if (over) return;
    if (one.failures === 0) logger.warn('an observer could not tell a fact and tries again', { conversation: id, why });
    const own = Math.min(FIRST_WAIT_MS * 2 ** Math.min(one.failures++, 20), LONGEST_WAIT_MS);
    const wait = Math.max(own * (1 + fraction() / 2), Math.min(askedMs, LONGEST_ASKED_MS));
    one.cancel = clock.after(wait, () => {
      queue.add(id);
      go();
    });
  }

  function rest(id: string, cursor: number, kept: boolean): void {
    behind.delete(id);
    resting.set(id, { cursor, kept });
    if (resting.size > MOST_RESTING) for (const first of resting.keys()) return void resting.delete(first);
  }

  function makeRoom(): void {
    for (const [id, one] of behind) {
      if (one.busy) continue;
      one.cancel?.();
      behind.delete(id);
      queue.delete(id);
      logger.error('an observer is behind with too many conversations and gives the oldest up', { conversation: id });
      return;
    }
  }

  function stop(): void {
    over = true;
    for (const { cancel } of behind.values()) cancel?.();
    for (const all of [behind, resting, queue]) all.clear();
  }

  return {
    heard(id, seq) {
      if (over) return;
      const known = behind.get(id);
      if (known !== undefined) {
        known.heard = Math.max(known.heard, seq);
        return;
      }
      const { cursor, kept = false } = resting.get(id) ?? {};
      if (cursor !== undefined && cursor >= seq) return;
      resting.delete(id);
      add(id, { cursor, heard: seq, kept });
      go();
    },
    quiet: () => (isQuiet() ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    async keep() {
      // One that failed was kept when it did.
      for (const [id, one] of behind) if (!one.kept || one.failures === 0) await keepOne(id, one);
    },
    stop,
  };
}

/** The end of the turn before the one that the fact `seq` is of. */
async function turnBegin(log: LogReader, id: string, seq: number): Promise<number> {
  let end = 0;
  for (let at = 0; ;) {
    const page = await log.read(id, at, PAGE);
    for (const fact of page) if (fact.type === 'agent.turn.end' && fact.seq < seq) end = fact.seq;
    at = page.at(-1)?.seq ?? at;
    if (page.length < PAGE || at >= seq) return end;
  }
}
