import type { Outage } from '../outage.ts';
import type { Schedule } from '../schedule.ts';
import type { Database, Ear, Statement } from './database.ts';

/** What processes that share a database call to each other. Heard at most once: who needs it all looks in the tables. */
export interface Line {
  /** Sends messages of at most `MESSAGE_BYTES_MAX` bytes each, outside of any transaction. Fails in silence. */
  send(channel: string, messages: readonly string[]): void;
  /** Hears what other processes send. The returned function ends it. */
  listen(channel: string, listener: (message: string) => void): () => void;
  /** Nothing that was sent since it last came up has been missed. */
  readonly isUp: boolean;
  /** Called each time it comes up: what was sent before was missed. */
  onUp(listener: () => void): () => void;
  close(): Promise<void>;
}

/** PostgreSQL takes 7999. */
export const MESSAGE_BYTES_MAX = 7_900;

/** The channel for one kind of messages between those who share a schema. */
export function channelOf({ settings }: Pick<Database, 'settings'>, kind: string): string {
  return `${settings.schema.replaceAll('"', '')}_${kind}`;
}

const CONNECT_AGAIN_MS = 1_000;
const HEARTBEAT_MS = 30_000;
const HEARTBEAT_WITHIN_MS = 5_000;

/** One connection that listens, open while anybody does. Messages of this process itself are not handed back to it. */
export function createLine(
  database: Database,
  notify: Statement,
  { origin, schedule, outage }: { readonly origin: string; readonly schedule: Schedule; readonly outage: Outage },
): Line {
  const listeners = new Map<string, Set<(message: string) => void>>();
  const ups = new Set<() => void>();
  let client: Ear | undefined;
  let isUp = false;
  let isClosed = false;
  let cancel: () => void = () => undefined;
  let sending: Promise<unknown> = Promise.resolve();

  function later(ms: number, work: () => Promise<void>): void {
    cancel();
    if (!isClosed) cancel = schedule(ms, () => void work());
  }

  async function connect(): Promise<void> {
    const mine = database.ownClient();
    client = mine;
    let isOver = false;
    const lost = (problem?: unknown): void => {
      if (isOver) return;
      isOver = true;
      if (client !== mine) return;
      client = undefined;
      isUp = false;
      if (problem !== undefined) outage.failed(problem);
      void mine.end().catch(() => undefined);
      if (listeners.size > 0) later(CONNECT_AGAIN_MS, connect);
    };
    mine.on('error', lost);
    mine.on('end', () => lost());
    mine.on('notification', ({ channel, payload = '' }) => {
      const mark = payload.indexOf(' ');
      if (payload.slice(0, mark) === origin) return;
      for (const listener of listeners.get(channel) ?? []) listener(payload.slice(mark + 1));
    });
    try {
      await mine.connect();
      for (const channel of listeners.keys()) await mine.query(`LISTEN "${channel}"`);
      if (client !== mine) return;
      isUp = true;
      outage.passed();
      later(HEARTBEAT_MS, beat);
      for (const listener of [...ups]) listener();
    } catch (problem) {
      lost(problem);
    }

    /** A line that went dead is silent, as one is on which nobody speaks. */
    async function beat(): Promise<void> {
      const timeout = schedule(HEARTBEAT_WITHIN_MS, () => lost(new Error('the connection that listens went dead')));
      try {
        await mine.query('SELECT 1');
        if (!isOver) later(HEARTBEAT_MS, beat);
      } catch (problem) {
        lost(problem);
      } finally {
        timeout();
      }
    }
  }

  function hangUp(): Promise<void> {
    const mine = client;
    client = undefined;
    isUp = false;
    cancel();
    return mine === undefined ? Promise.resolve() : mine.end().catch(() => undefined);
  }

  return {
    get isUp() {
      return isUp;
    },
    send(channel, messages) {
      if (messages.length === 0 || isClosed || !database.isOpen) return;
      const marked = messages.map((message) => `${origin} ${message}`);
      // One after the other: two connections of the pool would not keep their order.
      sending = sending.then(async () => {
        if (database.isOpen) await database.run(notify, [channel, marked], 'none');
      });
      sending = sending.catch(outage.failed);
    },
    listen(channel, listener) {
      const known = listeners.get(channel);
      const own = (message: string): void => listener(message);
      if (known !== undefined) known.add(own);
      else {
        listeners.set(channel, new Set([own]));
        if (client === undefined) later(0, connect);
        else if (isUp) client.query(`LISTEN "${channel}"`).catch(outage.failed);
        else later(0, connect); // it may have passed the place where it would have been asked for
      }
      return () => {
        const left = listeners.get(channel);
        left?.delete(own);
        if (left?.size === 0) listeners.delete(channel);
        if (listeners.size === 0) void hangUp();
      };
    },
    onUp(listener) {
      ups.add(listener);
      return () => void ups.delete(listener);
    },
    async close() {
      isClosed = true;
      listeners.clear();
      await sending;
      await hangUp();
    },
  };
}
