import assert from 'node:assert/strict';
import { setImmediate as allMicrotasks } from 'node:timers/promises';
import type { Fetch } from '../../src/adapters/models/providers.ts';
import type { ModelPart } from '../../src/domain/model.ts';
import type { ModelSource } from '../../src/kernel/model.ts';
import { aHouse, aTool } from './house.ts';
import { brokenRules } from './invariants.ts';
import { landmarks, type Landmarks } from './landmarks.ts';
import { recorded, replay, serve, type Recorded } from './recorded.ts';
import { textOf, thinkingOf } from './streams.ts';
import { openWire, validators, WIRE_MODELS } from './wire.ts';

/** Recordings that do not end well: the provider failed, or it is a server that breaks the rules of the API it speaks. */
export const FAILURES: Readonly<Record<string, string>> = {
  'openai/responses--openai-error.1': 'auth',
  'xai/responses--xai-web-search-tool.1': 'protocol',
  'xai/responses--xai-x-search-tool': 'protocol',
};

/**
 * A recording cut at every one of its bytes, read by the adapter.
 *
 * It is fed byte by byte, so that what has arrived by each of them is known and looked at. What a cut adds to that is
 * made of the events that were complete, since an event that is not complete is not read: so it is really cut around the
 * end of events and inside of them. `thorough`: of every event, and at every byte of a short one; else at places all over it.
 */
export async function cutEverywhere(name: string, thorough: boolean): Promise<void> {
  const stream = recorded(name);
  const { provider, bytes } = stream;
  const marks = landmarks(stream);
  const whole = await replay(provider, serve(bytes));
  const { parts, arrived } = await byteByByte(stream);
  assert.deepEqual(fixed(parts), fixed(whole), 'other parts, byte by byte');
  assert.deepEqual(fixed(await replay(provider, serve(bytes, 61))), fixed(whole), 'other parts, in pieces of 61 bytes');
  for (let at = 1; at <= bytes.length; at++)
    if (arrived[at] !== arrived[at - 1]) checkSoFar(stream, marks, at, parts.slice(0, arrived[at]), whole);
  const cuts = thorough ? everyEvent(marks, bytes.length) : sample(marks, bytes.length);
  for (let from = 0; from < cuts.length; from += AT_ONCE) {
    await Promise.all(
      cuts.slice(from, from + AT_ONCE).map(async (at) => {
        const cut = await replay(provider, serve(bytes.subarray(0, at)));
        checkCut(stream, marks, at, cut, whole);
        const early = parts.slice(0, arrived[at]);
        assert.deepEqual(fixed(cut.slice(0, early.length)), fixed(early), `cut at ${at}: other parts than had arrived`);
      }),
    );
  }
}

const AT_ONCE = 32;

/** All parts, and how many of them were there after so many bytes. */
async function byteByByte({ provider, bytes }: Recorded): Promise<{ parts: ModelPart[]; arrived: Uint32Array }> {
  const parts: ModelPart[] = [];
  const arrived = new Uint32Array(bytes.length + 1);
  let feed: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (feed = controller) });
  const headers = { 'content-type': 'text/event-stream' };
  const done = replay(provider, () => Promise.resolve(new Response(body, { headers })), {}, parts);
  await allMicrotasks();
  for (let at = 0; at < bytes.length; at++) {
    feed?.enqueue(bytes.slice(at, at + 1));
    await allMicrotasks(); // what a byte brings about is done by then
    arrived[at + 1] = parts.length;
  }
  feed?.close();
  await done;
  return { parts, arrived };
}

/** What must hold of parts that have arrived, whether or not more follows. */
function checkSoFar(
  { name }: Recorded,
  marks: Landmarks,
  at: number,
  parts: readonly ModelPart[],
  whole: readonly ModelPart[],
): void {
  const where = `after byte ${at}`;
  const last = parts.at(-1);
  if (last?.type === 'finish') assert.ok(marks.isTerminated(at), `${where}: finish without the provider's word`);
  if (FAILURES[name] === undefined) assert.notEqual(last?.type, 'failure', `${where}: ${JSON.stringify(last)}`);
  if (last?.type === 'delta') assert.ok(last.delta.isWellFormed(), `${where}: half a character`);
  const actions = parts.filter((part) => part.type === 'action');
  assert.ok(actions.length <= marks.closedActions(at), `${where}: an action that was not completed`);
  const all = whole.filter((part) => part.type === 'action');
  for (const [index, action] of actions.entries())
    assert.deepEqual([action.name, action.input], [all[index]?.name, all[index]?.input], `${where}: half an action`);
}

/** What must hold of a stream that ends after `at` bytes. */
function checkCut(
  stream: Recorded,
  marks: Landmarks,
  at: number,
  parts: readonly ModelPart[],
  whole: readonly ModelPart[],
): void {
  const where = `cut at ${at}`;
  const isGood = FAILURES[stream.name] === undefined;
  const finishes = parts.filter((part) => part.type === 'finish').length;
  if (!marks.isTerminated(at)) assert.equal(finishes, 0, `${where}: finish without the provider's word`);
  if (marks.isTerminated(at) && isGood) assert.equal(finishes, 1, `${where}: no finish`);
  const failure = parts.findIndex((part) => part.type === 'failure');
  assert.ok(failure < 0 || failure === parts.length - 1, `${where}: something follows a failure`);
  if (isGood) assert.equal(failure, -1, `${where}: ${JSON.stringify(parts.at(-1))}`);
  checkSoFar(stream, marks, at, parts, whole);
  for (const kind of [textOf, thinkingOf]) assert.ok(kind(whole).startsWith(kind(parts)), `${where}: other words`);
  for (const part of parts)
    if (part.type === 'delta') assert.ok(part.delta.isWellFormed(), `${where}: half a character`);
}

const SHORT = 1_200;

/** Around the end of each event and in the middle of the next. */
function everyEvent({ ends, halves }: Landmarks, length: number): number[] {
  const cuts = new Set<number>(halves);
  if (length <= SHORT) for (let at = 0; at < length; at++) cuts.add(at);
  for (const [index, end] of ends.entries())
    for (const at of [end - 1, end, Math.floor((end + (ends[index + 1] ?? length)) / 2)]) if (at < length) cuts.add(at);
  return [...cuts].sort((a, b) => a - b);
}

/** A few of each, evenly spread, and the end, where an answer becomes one. A late cut of a large stream reads nearly all of it. */
function sample({ ends, halves }: Landmarks, length: number): number[] {
  const count = Math.max(2, Math.min(6, Math.floor(100_000 / length)));
  const cuts = new Set<number>(spread(halves, count));
  for (const end of [...spread(ends, count), ...ends.slice(-2)])
    for (const at of [end - 1, end, end + 1]) if (at < length) cuts.add(at);
  return [...cuts].sort((a, b) => a - b);
}

function spread(from: readonly number[], count: number): number[] {
  const step = Math.max(1, from.length / count);
  return Array.from({ length: Math.min(count, from.length) }, (_, index) => from[Math.floor(index * step)] ?? 0);
}

/** Packages make up ids where a provider gives none: the parts with these numbered in the order of their appearance. */
function fixed(parts: readonly ModelPart[]): unknown {
  const ids = new Map<string, string>();
  const name = (id: string) => {
    if (!ids.has(id)) ids.set(id, `part ${ids.size}`);
    return ids.get(id);
  };
  return parts.map((part) => {
    if (part.type === 'block') {
      const { block } = part;
      if (block.type !== 'provider') return part;
      return {
        ...block,
        call: block.call === undefined ? undefined : name(block.call),
        data: block.kind.endsWith('.source') ? 'source' : block.data,
      };
    }
    return 'part' in part ? { ...part, part: name(part.part) } : part;
  });
}

/** Streams that a whole turn is made of at a few places, unless it is to be thorough. */
const MODERATE = 40_000;
const PLACES = 14;

/** The same in the loop: wherever the stream breaks off, the log holds what it should and the next request is accepted. */
export async function cutInLoop(name: string, thorough: boolean): Promise<void> {
  const stream = recorded(name);
  const { length } = stream.bytes;
  if (!thorough && length >= MODERATE) return;
  const cuts = thorough
    ? [
        0,
        ...landmarks(stream)
          .ends.flatMap((end) => [end, end + 1])
          .filter((at) => at <= length),
        length,
      ]
    : Array.from({ length: PLACES + 1 }, (_, part) => Math.round((length * part) / PLACES));
  for (const at of cuts) {
    const { body, broken } = await nextBody(stream, at);
    assert.deepEqual({ at, problems: validators[stream.provider](body), broken }, { at, problems: [], broken: [] });
  }
}

/** Two turns: the first call is cut, what the second one sends is kept. */
async function nextBody(
  { provider, bytes }: Recorded,
  cut: number,
): Promise<{ readonly body: unknown; readonly broken: readonly string[] }> {
  let calls = 0;
  let body: unknown;
  const fetch: Fetch = (url, init) => {
    if (++calls === 1) return serve(bytes.subarray(0, cut))(url, init);
    body = JSON.parse(init?.body as string);
    return serve(new Uint8Array())(url, init);
  };
  const ref = WIRE_MODELS[provider];
  const opened = openWire(ref, fetch);
  const models: ModelSource = { open: () => opened };
  const names = ['weather', 'getWeather', 'get_weather', 'calculator', 'updateIssueList', 'json', 'test-tool'];
  const house = aHouse({
    models,
    tools: names.map((tool) => aTool(tool, () => 'sunny')),
    limits: { maxAttempts: 1, maxIterations: 2 },
    agent: { models: [ref] },
  });
  await house.ask('What is the weather?');
  await house.ask('Go on.');
  return { body, broken: brokenRules(await house.facts()) };
}
