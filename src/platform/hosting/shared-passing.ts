import type { Clock } from '../../base/clock.ts';
import { isObject, tryParseJson } from '../../base/json.ts';
import type { EventOf, Passing } from '../../domain/event.ts';
import type { Relay } from '../../kernel/log.ts';
import type { PassingEvents } from './passing.ts';

type Chunk = EventOf<'llm.stream.chunk'>;

/** What was said together goes together. */
const TOGETHER_MS = 40;
/** Who wants to hear of a run says so again, since it may be driven elsewhere by then. */
const WANT_MS = 10_000;
const WANTED_MS = 25_000;
/** Of one text in one message: in the worst case JSON writes six bytes for each. */
const PIECE = 1_000;

/** A piece with its place in the text, so that a hole is seen and a repetition is none. */
interface Piece {
  readonly event: Passing;
  /** Of a chunk: how much of the text comes before it. */
  readonly at?: number;
}

type Message =
  /** Tell what passes in these runs from now on. `fresh`: and what was said before. */
  | { readonly want: readonly string[]; readonly fresh: boolean }
  /** Somebody has come who may drive, and asks what others want. */
  | { readonly who: true }
  | { readonly pieces: readonly Piece[] };

/**
 * Passing events of all processes that share a relay. Nothing is sent of a run that nobody elsewhere follows: a process with
 * readers says which runs they follow, and the one that drives them answers for a while.
 */
export function createSharedPassing(local: PassingEvents, relay: Relay, clock: Clock): PassingEvents {
  const readers = new Map<string, Set<(event: Passing) => void>>();
  /** What others have said, by run and entry. */
  const spoken = new Map<string, Map<string, Chunk>>();
  const wanted = new Map<string, { off: () => void; until: number; readonly said: Map<string, number> }>();
  let waiting: Piece[] = [];
  let cancelSending: (() => void) | undefined;
  let cancelWanting: (() => void) | undefined;
  const unhear = relay.listen(hear, () => {
    send({ who: true });
    want([...readers.keys()], true);
  });

  function want(runs: readonly string[], fresh: boolean): void {
    for (const run of runs) send({ want: [run], fresh });
  }

  function send(message: Message): void {
    relay.send(JSON.stringify(message));
  }

  function wantAgain(): void {
    want([...readers.keys()], false);
    cancelWanting = readers.size === 0 ? undefined : clock.after(WANT_MS, wantAgain);
    const now = performance.now();
    for (const [run, { off, until }] of wanted) {
      if (until > now) continue;
      off();
      wanted.delete(run);
    }
  }

  function hear(text: string): void {
    const message = messageOf(text);
    if (message === undefined) return;
    if ('want' in message) for (const run of message.want) tell(run, message.fresh);
    else if ('who' in message) want([...readers.keys()], false);
    else for (const piece of message.pieces) take(piece);
  }

  // ── What passes here, for others ──

  function tell(run: string, fresh: boolean): void {
    const until = performance.now() + WANTED_MS;
    const known = wanted.get(run);
    if (known !== undefined) known.until = until;
    if (known !== undefined && !fresh) return;
    const said = known?.said ?? new Map<string, number>();
    for (const event of local.soFar(run)) if (event.type === 'llm.stream.chunk') say(event, 0, said);
    if (known !== undefined) return;
    const off = local.on(run, (event) => {
      const own = wanted.get(run);
      if (own === undefined || own.until <= performance.now()) {
        off();
        wanted.delete(run);
      } else if (event.type === 'llm.stream.chunk') say(event, own.said.get(nameOf(event)) ?? 0, own.said);
      else {
        if (event.type === 'llm.stream.end') own.said.clear();
        put({ event });
      }
    });
    wanted.set(run, { off, until, said });
  }

  function say(chunk: Chunk, at: number, said: Map<string, number>): void {
    const { delta } = chunk.payload;
    for (let from = 0; from < delta.length || from === 0; from += PIECE) {
      const piece = delta.slice(from, from + PIECE);
      put({ event: { ...chunk, payload: { ...chunk.payload, delta: piece } }, at: at + from });
    }
    said.set(nameOf(chunk), at + delta.length);
  }

  function put(piece: Piece): void {
    const last = waiting.at(-1);
    const joined = last === undefined ? undefined : together(last, piece);
    if (joined === undefined) waiting.push(piece);
    else waiting[waiting.length - 1] = joined;
    cancelSending ??= clock.after(TOGETHER_MS, flush);
  }

  function flush(): void {
    cancelSending = undefined;
    const pieces = waiting;
    waiting = [];
    let batch: Piece[] = [];
    let bytes = 0;
    for (const piece of pieces) {
      const size = Buffer.byteLength(JSON.stringify(piece)) + 1;
      if (size > relay.bytesMax - ENVELOPE) continue; // such as the report of a tool that says too much
      if (bytes + size > relay.bytesMax - ENVELOPE) {
        send({ pieces: batch });
        batch = [];
        bytes = 0;
      }
      batch.push(piece);
      bytes += size;
    }
    if (batch.length > 0) send({ pieces: batch });
  }

  // ── What passes elsewhere, for readers here ──

  function take({ event, at }: Piece): void {
    const run = event.conversationId;
    const listeners = readers.get(run);
    if (listeners === undefined) return;
    const heard = event.type === 'llm.stream.chunk' ? newIn(event, at ?? 0) : event;
    if (event.type === 'llm.stream.end') spoken.delete(run);
    if (heard !== undefined) for (const listener of listeners) listener(heard);
  }

  /** The part of a piece that is new here; nothing where something before it was missed, which is then asked for. */
  function newIn(chunk: Chunk, at: number): Chunk | undefined {
    const own = spoken.get(chunk.conversationId) ?? new Map<string, Chunk>();
    spoken.set(chunk.conversationId, own);
    const { entry, attempt, delta } = chunk.payload;
    const before = own.get(entry)?.payload;
    const known = before?.attempt === attempt ? before.delta : '';
    if (at > known.length) {
      want([chunk.conversationId], true);
      return undefined;
    }
    const fresh = delta.slice(known.length - at);
    if (fresh === '' && delta !== '') return undefined;
    own.set(entry, { ...chunk, payload: { ...chunk.payload, delta: known + fresh } });
    return { ...chunk, payload: { ...chunk.payload, delta: fresh } };
  }

  return {
    on(runId, listener) {
      const off = local.on(runId, listener);
      const own = (event: Passing): void => listener(event);
      const known = readers.get(runId);
      if (known !== undefined) known.add(own);
      else {
        readers.set(runId, new Set([own]));
        want([runId], true);
        cancelWanting ??= clock.after(WANT_MS, wantAgain);
      }
      return () => {
        off();
        const left = readers.get(runId);
        left?.delete(own);
        if (left?.size !== 0) return;
        readers.delete(runId);
        spoken.delete(runId);
      };
    },
    soFar(runId) {
      const here = local.soFar(runId);
      return here.length > 0 ? here : [...(spoken.get(runId)?.values() ?? [])];
    },
    close() {
      unhear();
      cancelSending?.();
      cancelWanting?.();
      for (const { off } of wanted.values()) off();
      wanted.clear();
      local.close();
    },
  };
}

/** `{"pieces":[]}` and what the commas take. */
const ENVELOPE = 100;

function nameOf({ payload: { entry, attempt } }: Chunk): string {
  return `${entry} ${attempt}`;
}

/** Two pieces of one text that follow each other, where they fit into one. */
function together(first: Piece, second: Piece): Piece | undefined {
  const [one, two] = [first.event, second.event];
  if (one.type !== 'llm.stream.chunk' || two.type !== 'llm.stream.chunk') return undefined;
  if (one.conversationId !== two.conversationId || nameOf(one) !== nameOf(two)) return undefined;
  const delta = one.payload.delta + two.payload.delta;
  if (second.at !== (first.at ?? 0) + one.payload.delta.length || delta.length > PIECE) return undefined;
  return { ...first, event: { ...one, payload: { ...one.payload, delta } } };
}

/** A message of another process, which may be of another version: what it does not say as expected is let go. */
function messageOf(text: string): Message | undefined {
  const parsed = tryParseJson(text);
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const { want, fresh, who, pieces } = parsed.value;
  if (who === true) return { who };
  if (Array.isArray(want)) return { want: want.filter((run) => typeof run === 'string'), fresh: fresh === true };
  return Array.isArray(pieces) ? { pieces: pieces.filter(isPiece) } : undefined;
}

const TYPES: ReadonlySet<unknown> = new Set<Passing['type']>([
  'llm.stream.chunk',
  'llm.stream.end',
  'tool.progress',
  'io.status',
]);

function isPiece(value: unknown): value is Piece {
  if (!isObject(value) || !isObject(value['event'])) return false;
  const { type, conversationId, payload } = value['event'];
  if (!TYPES.has(type) || typeof conversationId !== 'string' || !isObject(payload)) return false;
  return type !== 'llm.stream.chunk' || (typeof payload['delta'] === 'string' && typeof payload['entry'] === 'string');
}
