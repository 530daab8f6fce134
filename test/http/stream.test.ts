// The stream: every entry once, however often the connection breaks, and nobody is slowed by a reader.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { isObject } from '../../src/base/json.ts';
import type { HttpContext } from '../../src/http/context.ts';
import { createStreams } from '../../src/http/streams.ts';
import { frame } from '../../src/http/wire.ts';
import { StillClock } from '../conformance/log-samples.ts';
import { follow } from './events.ts';
import { open } from './raw.ts';
import { aServer, linesFile, type Served } from './server.ts';

const streamOf = ({ url }: Served, id: string, query = ''): string => `${url}/api/v1/runs/${id}/stream${query}`;
const isEnd = ({ event }: { event?: string | undefined }): boolean => event === 'end';
const entryId = (data: string): string => {
  const parsed: unknown = JSON.parse(data);
  const entry = isObject(parsed) ? parsed['entry'] : undefined;
  return isObject(entry) ? `${String(entry['id'])} ${String(entry['digest'])}` : '';
};

/** What a reader holds in the end. */
async function page({ call }: Served, id: string): Promise<string[]> {
  const { body } = await call('GET', `/api/v1/runs/${id}/events?limit=100`);
  return (body['events'] as { id: string; digest: string }[]).map((one) => `${one.id} ${one.digest}`);
}

test('a reader gets the status, every entry and the end, each frame as its schema says', async (t) => {
  const served = await aServer(t);
  const id = await served.begin('hello');
  const reader = await follow(streamOf(served, id));
  const heard = await reader.until(isEnd);
  assert.equal(reader.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  for (const { event, data, id: cursor } of heard) {
    const parsed = frame.parse(JSON.parse(data));
    assert.deepEqual([event, cursor], [parsed.type, 'cursor' in parsed ? parsed.cursor : undefined]);
  }
  assert.deepEqual([heard[0]?.event, heard.at(-1)?.event, await reader.next()], ['status', 'end', undefined]);
  const last = new Map(
    heard.filter(({ event }) => event === 'entry').map(({ data }) => [entryId(data).split(' ')[0], entryId(data)]),
  );
  assert.deepEqual([...last.values()].sort(), (await page(served, id)).sort());
});

test('a reader that comes back with the last id misses nothing and is told nothing twice', async (t) => {
  const served = await aServer(t);
  const id = await served.begin('hello');
  await served.rest(id);
  const whole = (await (await follow(streamOf(served, id))).until(isEnd)).filter(({ event }) => event === 'entry');
  for (const [index, { id: last }] of whole.entries()) {
    // A browser sends the address that it began with, too: the header counts.
    const again = await follow(streamOf(served, id, `?cursor=${whole[0]?.id ?? ''}`), { 'last-event-id': last ?? '' });
    const rest = (await again.until(isEnd)).filter(({ event }) => event === 'entry');
    assert.deepEqual(
      rest.map(({ data }) => entryId(data)),
      whole.slice(index + 1).map(({ data }) => entryId(data)),
    );
  }
});

test('a cursor of the stream goes on in the page, and one of the page in the stream', async (t) => {
  const served = await aServer(t);
  const id = await served.begin('hello');
  await served.rest(id);
  const first = await served.call('GET', `/api/v1/runs/${id}/events?limit=1`);
  const [, second] = await (
    await follow(streamOf(served, id, `?cursor=${String(first.body['nextCursor'])}`))
  ).until(isEnd);
  const rest = await served.call('GET', `/api/v1/runs/${id}/events?cursor=${second?.id ?? ''}`);
  const heard = [
    first.body['events'],
    [(JSON.parse(second?.data ?? '{}') as { entry: unknown }).entry],
    rest.body['events'],
  ] as {
    id: string;
  }[][];
  assert.deepEqual(
    heard.flat().map((one) => one.id),
    (await page(served, id)).map((one) => one.split(' ')[0]),
  );
});

test('pieces come only where they are asked for, under the id of their entry', async (t) => {
  const served = await aServer(t);
  const id = await served.begin('hello');
  await served.rest(id);
  const [quiet, eager] = [
    await follow(streamOf(served, id, '?until=removed')),
    await follow(streamOf(served, id, '?until=removed&deltas=true')),
  ];
  const isAnswer = ({ event, data }: { event?: string | undefined; data: string }): boolean =>
    event === 'entry' && data.includes('You said: again') && data.includes('"final":true');
  await served.call('POST', `/api/v1/runs/${id}/messages`, { body: { content: 'again' } });
  const [plain, pieces] = await Promise.all([quiet.until(isAnswer), eager.until(isAnswer)]);
  const deltas = pieces
    .filter(({ event }) => event === 'delta')
    .map(({ data }) => JSON.parse(data) as { id: string; delta: string; kind: string });
  const text = deltas.filter(({ kind }) => kind === 'text');
  assert.equal(
    plain.some(({ event }) => event === 'delta'),
    false,
  );
  assert.equal(text.map(({ delta }) => delta).join(''), 'You said: again');
  assert.deepEqual(new Set(text.map((one) => one.id)).size, 1);
  assert.ok(pieces.at(-1)?.data.includes(`"id":"${text[0]?.id ?? ''}"`));
  for (const one of [quiet, eager]) one.leave();
});

test('a quiet stream has its comment, without moving the progress of the run', async (t) => {
  const served = await aServer(t, { streamLimits: { heartbeatMs: 20 } });
  const id = await served.begin(`write ${linesFile(t)}`);
  const { lastProgressAt } = await served.rest(id);
  const reader = await follow(streamOf(served, id));
  await reader.until(({ event, data }) => event === 'entry' && data.includes('waiting'));
  const pending = reader.next();
  while (reader.comments.length < 3) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal((await served.rest(id))['lastProgressAt'], lastProgressAt);
  reader.leave();
  assert.equal(await pending, undefined);
});

test('an approval reaches a reader as it happens, and the end closes the stream', async (t) => {
  const served = await aServer(t);
  const id = await served.begin(`write ${linesFile(t)}`);
  const reader = await follow(streamOf(served, id));
  const waiting = await reader.until(({ event, data }) => event === 'status' && data.includes('"pendingApproval"'));
  const { requests } = JSON.parse(waiting.at(-1)?.data ?? '{}') as { requests: { id: string; digest: string }[] };
  const body = requests.map((one) => ({ request: one.id, digest: one.digest, decision: 'allow' }));
  assert.equal((await served.call('POST', `/api/v1/runs/${id}/answers`, { body })).status, 200);
  assert.equal((await reader.until(isEnd)).at(-1)?.event, 'end');
});

test('a reader that is gone is let go of, and the run goes on', async (t) => {
  const served = await aServer(t);
  const id = await served.begin(`write ${linesFile(t)}`);
  await served.rest(id);
  const reader = await follow(streamOf(served, id));
  await reader.next();
  assert.equal(served.server.streams(), 1);
  reader.leave();
  while (served.server.streams() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const { agent } = (await served.call('POST', `/api/v1/nexustrade/agents/${id}/approve`, { body: {} })).body as {
    agent: { id: string };
  };
  assert.equal((await served.rest(agent.id))['status'], 'completed');
});

test('a reader that takes nothing is let go after its time, and slows nobody', async (t) => {
  const clock = new StillClock();
  const beats: (() => void)[] = [];
  const ticking = {
    now: () => clock.now(),
    after: (_: number, beat: () => void) => (beats.push(beat), () => undefined),
  };
  const served = await aServer(t, { clock: ticking, rate: { perSecond: 0 }, streamLimits: { stallMs: 60_000 } });
  // More than the system keeps for a connection that is not read.
  const id = await served.begin('hello');
  for (let count = 0; count < 8; count++) {
    await served.rest(id);
    await served.call('POST', `/api/v1/runs/${id}/messages`, { body: { content: 'x'.repeat(900_000) } });
  }
  await served.rest(id);
  // Two of them read nothing.
  const stuck = await Promise.all(
    Array.from({ length: 2 }, () =>
      open(served.url, `GET /api/v1/runs/${id}/stream?until=removed HTTP/1.1\r\nHost: localhost\r\n\r\n`),
    ),
  );
  for (const one of stuck) one.pause();
  while (served.server.streams() < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal((await served.rest(await served.begin('hello')))['status'], 'completed');
  clock.pass(30_000);
  for (const beat of beats.splice(0)) beat();
  assert.equal(served.server.streams(), 2);
  clock.pass(31_000);
  for (const beat of beats.splice(0)) beat();
  while (served.server.streams() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const one of stuck) one.destroy();
});

test('more streams than a server can follow are refused, and a free place is taken again', async (t) => {
  const served = await aServer(t, { streamLimits: { total: 3, perCaller: 2 } });
  const [ana, bo] = [await served.key({ userId: 'ana' }), await served.key({ userId: 'bo' })];
  const ids = [
    await served.begin(`write ${linesFile(t)}`, { as: ana }),
    await served.begin(`write ${linesFile(t)}`, { as: bo }),
  ];
  const ask = (as: string, index: number) =>
    follow(streamOf(served, ids[index] ?? ''), { authorization: `Bearer ${as}` });
  const mine = [await ask(ana, 0), await ask(ana, 0), await ask(ana, 0)];
  const others = [await ask(bo, 1), await ask(bo, 1)];
  assert.deepEqual(
    [...mine, ...others].map(({ status }) => status),
    [200, 200, 503, 200, 503],
  );
  mine[0]?.leave();
  while (served.server.streams() > 2) await new Promise((resolve) => setTimeout(resolve, 5));
  const again = await ask(ana, 0);
  assert.equal(again.status, 200);
  for (const one of [...mine, ...others, again]) one.leave();
});

test('a server that ends closes its streams after a whole frame, and the next one goes on', async (t) => {
  const served = await aServer(t);
  const id = await served.begin(`write ${linesFile(t)}`);
  await served.rest(id);
  const reader = await follow(streamOf(served, id));
  const [first] = await reader.until(({ event }) => event === 'entry');
  assert.ok(first !== undefined);
  const closing = served.server.close({ drainMs: 1000 });
  const rest = await reader.until(() => false);
  await closing;
  for (const { data } of rest) assert.ok(frame.safeParse(JSON.parse(data)).success);
});

test('asking for the head of a stream opens none', async (t) => {
  const served = await aServer(t);
  const id = await served.begin('hello');
  const { status, headers } = await served.call('HEAD', `/api/v1/runs/${id}/stream`);
  assert.deepEqual(
    [status, headers.get('content-type'), served.server.streams()],
    [200, 'text/event-stream; charset=utf-8', 0],
  );
});

test('a run that is removed ends its streams', async (t) => {
  const served = await aServer(t);
  const id = await served.begin('hello');
  await served.rest(id);
  const reader = await follow(streamOf(served, id, '?until=removed'));
  await reader.until(({ event, data }) => event === 'entry' && data.includes('completed'));
  assert.equal((await served.call('DELETE', `/api/v1/runs/${id}`)).status, 204);
  assert.equal(await reader.next(), undefined);
});

test('a frame goes to its reader in one write', async (t) => {
  const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const limits = { total: 1, perCaller: 1, heartbeatMs: 60_000, stallMs: 60_000 };
  const streams = createStreams({ clock: systemClock, logger }, limits);
  let writes = 0;
  async function* frames(): AsyncGenerator<string> {
    for (const text of ['one', 'two', 'three']) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (text === 'one') writes = 0; // what opens the stream is not counted
      yield `data: ${text} “”\n\n`;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const server = createServer((incoming, outgoing) => {
    const { socket } = incoming;
    const [write, writev] = [socket._write.bind(socket), socket._writev?.bind(socket)];
    socket._write = (...given) => {
      writes++;
      write(...given);
    };
    socket._writev = (...given) => {
      writes++;
      writev?.(...given);
    };
    const context = { env: { outgoing }, req: { method: 'GET' }, res: { headers: new Headers() }, get: () => '' };
    // What an answer asks of its context is all here.
    void streams.answer(context as unknown as HttpContext, 'ana', () => frames(), String);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const reply = await fetch(`http://127.0.0.1:${port}`);
  assert.match(await reply.text(), /one “”[^]*two[^]*three/);
  assert.equal(writes, 4, 'three frames and the end');
});
