// Acceptance cases 42 to 47 and 59: reading a run while it goes on.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createParser } from 'eventsource-parser';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import type { RunEntry, StreamFrame } from '../../src/client/index.ts';
import { act, aHouse, does, mails, type House, type Replica } from './house.ts';

/** Frames of a stream until the reader has enough, or the stream ends. */
async function* frames(
  at: Replica,
  house: House,
  id: string,
  query = '',
): AsyncGenerator<StreamFrame & { readonly place: string }> {
  const leave = new AbortController();
  const reply = await fetch(`${at.url}/api/v1/runs/${id}/stream${query}`, {
    headers: { authorization: `Bearer ${house.keys.read}` },
    signal: leave.signal,
  });
  assert.equal(reply.status, 200);
  const ready: (StreamFrame & { readonly place: string })[] = [];
  const parser = createParser({
    onEvent: ({ data, id: place = '' }) => void ready.push({ ...(JSON.parse(data) as StreamFrame), place }),
  });
  const decoder = new TextDecoder();
  try {
    for await (const chunk of reply.body as AsyncIterable<Uint8Array>) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* ready.splice(0);
    }
  } finally {
    leave.abort();
  }
}

async function entries(source: AsyncIterable<StreamFrame>): Promise<readonly RunEntry[]> {
  const all: RunEntry[] = [];
  for await (const frame of source) if (frame.type === 'entry') all.push(frame.entry);
  return all;
}

/** The newest of each, in order. */
function newest(all: readonly RunEntry[]): readonly RunEntry[] {
  const last = new Map(all.map((entry) => [entry.id, entry]));
  return [...last.values()].sort((one, other) => one.position - other.position);
}

async function truth(house: House, id: string): Promise<readonly RunEntry[]> {
  await house.until(id, ({ terminal }) => terminal);
  return (await house.page(id, { limit: 100 })).events;
}

test('42 Restart of the server in the middle of a stream: reader resumes, no loss, no repeat', async (t) => {
  const house = await aHouse(t, { drives: false });
  const first = await house.replica({ drives: true });
  const id = await house.begin(mails);
  await house.until(id, ({ requests }) => requests.length === 1);
  const seen: RunEntry[] = [];
  let cursor = '';
  const reading = (async () => {
    for await (const frame of frames(first, house, id)) {
      if (frame.place !== '') cursor = frame.place;
      if (frame.type === 'entry') seen.push(frame.entry);
    }
  })();
  await house.until(id, () => seen.some(({ role }) => role === 'action'));
  await first.end();
  await reading;
  const second = await house.replica({ drives: true });
  const rest = entries(frames(second, house, id, `?cursor=${cursor}`));
  await house.call('POST', `/api/v1/nexustrade/agents/${id}/approve`, { body: {} });
  const all = [...seen, ...(await rest)];
  assert.deepEqual(newest(all), await truth(house, id));
  assert.equal(new Set(all.map((one) => `${one.id} ${one.digest}`)).size, all.length);
});

test('the typed client reads on through a restart of its server', async (t) => {
  const house = await aHouse(t, { drives: false });
  const first = await house.replica({ drives: true });
  const id = await house.begin(mails);
  await house.until(id, ({ requests }) => requests.length === 1);
  const port = Number(new URL(first.url).port);
  const client = house.client({ url: first.url });
  const run = client.run(id, { firstPollMs: 5, longestPollMs: 20 });
  let restarted = false;
  for await (const event of run) {
    if (event.type !== 'request') continue;
    await first.end();
    await house.replica({ drives: true, server: { port } });
    restarted = true;
    await run.allow(event.request);
  }
  assert.ok(restarted);
  assert.deepEqual(run.entries(), await truth(house, id));
});

test('43 Slow reader: bounded memory, gap frame, then catch-up', async (t) => {
  const house = await aHouse(t);
  const text = 'word '.repeat(20_000);
  const id = await house.begin(does({ text, chunks: 4, delayMs: 300 }));
  const socket = connect(Number(new URL(house.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.pause();
  socket.write(
    `GET /api/v1/runs/${id}/stream?deltas=true HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${house.keys.read}\r\nConnection: close\r\n\r\n`,
  );
  await house.until(id, ({ terminal }) => terminal);
  let told = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (told += chunk));
  socket.resume();
  await once(socket, 'end');
  const dropped = [...told.matchAll(/"type":"gap","dropped":(\d+)/g)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
  const handed = told.match(/^event: delta$/gm)?.length ?? 0;
  // What is left when the entry itself is there is not sent any more.
  assert.ok(dropped > 0 && dropped + handed <= text.length / 4);
  assert.match(told, /event: entry\ndata: \{"type":"entry","entry":\{"id":"t1-i1-text"/);
  assert.match(told, /event: end/);
});

test('44 Reader gone: the run goes on and its queue drains', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(does({ text: 'word '.repeat(100), chunks: 4, paceMs: 2 }));
  for await (const frame of frames(house, house, id, '?deltas=true')) if (frame.type === 'delta') break;
  const { status } = await house.until(id, ({ terminal }) => terminal);
  assert.equal(status, 'completed');
  await house.until(id, () => house.server.streams() === 0);
});

test('45 Two readers from different cursors agree in the end', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(mails);
  await house.until(id, ({ requests }) => requests.length === 1);
  const early = entries(frames(house, house, id));
  const page = await house.page(id, { limit: 2 });
  const late = entries(frames(house, house, id, `?cursor=${page.nextCursor}`));
  await house.call('POST', `/api/v1/nexustrade/agents/${id}/approve`, { body: {} });
  const expected = await truth(house, id);
  assert.deepEqual(newest(await early), expected);
  assert.deepEqual(newest([...page.events, ...(await late)]), expected);
});

test('46 Delta frames without a final event: closed by what stays of them, marked as cut, and the turn’s end', async (t) => {
  const house = await aHouse(t);
  const id = await house.begin(does({ text: 'word '.repeat(50), chunks: 4, paceMs: 50 }));
  const drafted = new Set<string>();
  const told = new Map<string, unknown>();
  let isStopped = false;
  const order: string[] = [];
  for await (const frame of frames(house, house, id, '?deltas=true')) {
    order.push(frame.type);
    if (frame.type === 'entry') told.set(frame.entry.id, frame.entry.data);
    if (frame.type !== 'delta') continue;
    drafted.add(frame.id);
    if (isStopped) continue;
    isStopped = true;
    await house.call('POST', `/api/v1/runs/${id}/stop`);
  }
  assert.deepEqual([...drafted], ['t1-i1-text']);
  assert.equal(order.at(-1), 'end');
  assert.deepEqual(told.get('t1-i1-text'), { final: false, cut: true });
  assert.ok((await truth(house, id)).some(({ role }) => role === 'end'));
});

test('47 Heartbeats do not move last progress', async (t) => {
  let ahead = 0;
  const clock: Clock = { now: () => systemClock.now() + ahead, after: (ms, ring) => systemClock.after(ms, ring) };
  const house = await aHouse(t, { clock, server: { streamLimits: { heartbeatMs: 5 } } });
  const id = await house.begin(does({ actions: [act('job', { ticket: 't1' })] }));
  const { lastProgressAt, version } = await house.until(id, (run) => run.status === 'waiting_for_computation');
  ahead = 60_000;
  const reply = await fetch(`${house.url}/api/v1/runs/${id}/stream`, {
    headers: { authorization: `Bearer ${house.keys.read}` },
  });
  const decoder = new TextDecoder();
  let beats = 0;
  for await (const chunk of reply.body as AsyncIterable<Uint8Array>) {
    beats += decoder.decode(chunk).match(/^:$/gm)?.length ?? 0;
    if (beats > 2) break;
  }
  const after = await house.snapshot(id);
  assert.deepEqual([after.lastProgressAt, after.version], [lastProgressAt, version]);
});

test('59 Cursor issued before an upgrade works after it', async (t) => {
  const house = await aHouse(t, { drives: false });
  const before = await house.replica({ drives: true });
  const id = await house.begin(mails);
  await house.until(id, ({ requests }) => requests.length === 1);
  const scanning = await house.page(id, { limit: 1 });
  const { nextCursor } = await house.page(id, { limit: 100 });
  await before.end();
  const after = await house.replica({ drives: true });
  await house.call('POST', `/api/v1/nexustrade/agents/${id}/approve`, { body: {} });
  const all = await truth(house, id);
  const rest = await entries(frames(after, house, id, `?cursor=${nextCursor}`));
  assert.deepEqual(rest.map((one) => one.id).slice(-1), [all.at(-1)?.id]);
  const scanned = await entries(frames(after, house, id, `?cursor=${scanning.nextCursor}`));
  assert.deepEqual(newest([...scanning.events, ...scanned]), all);
});
