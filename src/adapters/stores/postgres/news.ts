import type { Outage } from '../outage.ts';
import type { Schedule } from '../schedule.ts';
import type { Watchers } from '../watchers.ts';
import { MESSAGE_BYTES_MAX, type Line } from './line.ts';

/** What was stated, told to the other processes, and what they stated, told to the watchers here. */
export interface News {
  /** Facts of the conversation were added; `hasWork` when somebody has to drive it. */
  stated(conversationId: string, hasWork: boolean): void;
  /** Somebody watches from now on: the conversation, or work of any. */
  watch(conversationId?: string): void;
  /** Nobody watches any more. */
  rest(): void;
  /** Says now what would have been said soon. */
  flush(): void;
}

/** News of so long is told together: telling serialises the commits of all who tell. */
const TOGETHER_MS = 20;
const POLL_MS = 1_000;
/** Leaves room for who says it and the marks between. */
const ROOM = MESSAGE_BYTES_MAX - 200;

export interface NewsOptions {
  readonly line: Line;
  readonly channel: string;
  readonly watchers: Watchers;
  readonly schedule: Schedule;
  readonly heads: (conversations: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  readonly outage: Outage;
}

/**
 * News goes by notification. What a notification missed is found by a look at the heads of what is watched, each second
 * and only while something is; work is looked for only while the line is down, since an engine sweeps by itself.
 */
export function createNews({ line, channel, watchers, schedule, heads, outage }: NewsOptions): News {
  const known = new Map<string, number | undefined>();
  let changed = new Set<string>();
  let hasWork = false;
  let cancelTelling: (() => void) | undefined;
  let cancelLook: (() => void) | undefined;
  let leave: (() => void) | undefined;

  function tell(): void {
    cancelTelling?.();
    cancelTelling = undefined;
    const messages = messagesOf(changed, hasWork);
    changed = new Set();
    hasWork = false;
    line.send(channel, messages);
  }

  function hear(message: string): void {
    const [mark, ...conversations] = message.split('\n');
    for (const id of conversations) watchers.notify(decodeURIComponent(id));
    if (mark === WORK) watchers.notifyOfWork();
  }

  async function look(): Promise<void> {
    try {
      for (const id of known.keys()) if (!watchers.watched.has(id)) known.delete(id);
      const ids = [...watchers.watched.keys()];
      if (ids.length > 0) {
        const found = await heads(ids);
        for (const id of ids) {
          const head = found.get(id);
          const isNew = known.has(id) && known.get(id) !== head;
          known.set(id, head);
          if (isNew) watchers.notify(id);
        }
      }
      if (!line.isUp) watchers.notifyOfWork();
      if (ids.length > 0) outage.passed();
    } catch (problem) {
      outage.failed(problem);
    } finally {
      if (cancelLook !== undefined) cancelLook = schedule(POLL_MS, () => void look());
    }
  }

  function catchUp(): void {
    for (const id of [...watchers.watched.keys()]) watchers.notify(id);
    watchers.notifyOfWork();
  }

  return {
    stated(conversationId, work) {
      changed.add(conversationId);
      hasWork ||= work;
      cancelTelling ??= schedule(TOGETHER_MS, tell);
    },
    watch(conversationId) {
      if (leave === undefined) {
        const offs = [line.listen(channel, hear), line.onUp(catchUp)];
        leave = () => offs.forEach((off) => off());
        cancelLook = schedule(POLL_MS, () => void look());
      }
      if (conversationId !== undefined && !known.has(conversationId)) void remember(conversationId);
    },
    rest() {
      leave?.();
      leave = undefined;
      cancelLook?.();
      cancelLook = undefined;
      known.clear();
    },
    flush() {
      if (cancelTelling !== undefined) tell();
    },
  };

  /** What the head is when the watching begins: what comes later is news. */
  async function remember(conversationId: string): Promise<void> {
    try {
      const head = (await heads([conversationId])).get(conversationId);
      if (!known.has(conversationId)) known.set(conversationId, head);
    } catch (problem) {
      outage.failed(problem);
    }
  }
}

const WORK = 'w';

function messagesOf(conversations: ReadonlySet<string>, hasWork: boolean): readonly string[] {
  const messages: string[] = [];
  let message = hasWork ? WORK : '';
  for (const id of conversations) {
    const text = encodeURIComponent(id.toWellFormed());
    if (text.length > ROOM) continue; // found by the look
    if (message.length + text.length > ROOM) {
      messages.push(message);
      message = '';
    }
    message += `\n${text}`;
  }
  return message === '' ? messages : [...messages, message];
}
