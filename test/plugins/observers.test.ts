// What observers tell others: each fact, in order, signed, and never at the cost of a turn.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Fact } from '../../src/domain/event.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { createCursorFolder } from '../../src/adapters/files/cursor-folder.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { openBundle } from '../../src/platform/bundle/open-bundle.ts';
import type { Sent } from '../../src/kernel/webhook.ts';
import { followLog } from '../../src/plugins/observers/log-follower.ts';
import { aBundle, ana, withHost } from '../runs/a-host.ts';
import { settle } from '../support/house.ts';
import { aClock } from '../support/sim-clock.ts';

const KEY = Buffer.alloc(32, 7);
const SECRET = `whsec_${KEY.toString('base64')}`;

interface Ending {
  after(undo: () => unknown): void;
}

interface Message {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly fact: Fact;
}

/** Answers each message with the next of these, and with the last of them from then on; 0 is no answer at all. */
async function anEndpoint(t: Ending, ...given: readonly number[]) {
  let statuses = given;
  const heard: Message[] = [];
  let wake: () => void = () => undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const status = statuses[Math.min(heard.length, statuses.length - 1)] ?? 204;
      heard.push({ headers: request.headers, body, fact: (JSON.parse(body) as { data: Fact }).data });
      if (status !== 0) response.writeHead(status).end();
      wake();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    heard,
    answer: (status: number): void => void (statuses = [status]),
    async until(holds: () => boolean): Promise<void> {
      const late = AbortSignal.timeout(10_000);
      while (!holds()) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          late.addEventListener('abort', () => resolve());
        });
        if (late.aborted) assert.fail(`only this came: ${heard.map(({ fact }) => fact.id).join(' ')}`);
      }
    },
  };
}

function hooked(host: string, more = '', allowed = host): string {
  return aBundle(`plugins:
  active: [observer.webhook]
  observer.webhook: { url: "http://${host}/hook", secret: "${SECRET}", allow_hosts: ["${allowed}"]${more} }`);
}

function aLogger(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const say = (message: string, fields?: object): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { logger: { debug: say, info: say, warn: say, error: say }, lines };
}

const ended = ({ terminal }: { readonly terminal: boolean }): boolean => terminal;
const seqs = (heard: readonly Message[]): number[] => heard.map(({ fact }) => fact.seq);
const isEnd = ({ fact }: Message): boolean => fact.type === 'agent.turn.end';

test('an endpoint is told every fact once, in order, and can tell by the signature who says it', async (t) => {
  const endpoint = await anEndpoint(t, 204);
  await withHost({ bundle: hooked(endpoint.host) }, async ({ host, log }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Go.' });
    await endpoint.until(() => endpoint.heard.some(isEnd));
    const facts = await log.read(run.id, 0, 100);
    assert.deepEqual(
      endpoint.heard.map(({ fact }) => fact),
      JSON.parse(JSON.stringify(facts)),
    );
  });
  for (const { headers, body } of endpoint.heard) {
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = headers;
    const wanted = createHmac('sha256', KEY)
      .update(`${String(id)}.${String(at)}.${body}`)
      .digest('base64');
    assert.equal(signature, `v1,${wanted}`);
  }
  assert.equal(new Set(endpoint.heard.map(({ headers }) => headers['webhook-id'])).size, endpoint.heard.length);
});

test('only the types that are named are told', async (t) => {
  const endpoint = await anEndpoint(t, 204);
  await withHost({ bundle: hooked(endpoint.host, ', types: ["io.*", agent.turn.end]') }, async ({ host }) => {
    await host.runs.create(ana, { prompt: 'Go.' });
    await endpoint.until(() => endpoint.heard.some(isEnd));
  });
  assert.deepEqual(
    endpoint.heard.map(({ fact }) => fact.type),
    ['io.input', 'io.output', 'agent.turn.end'],
  );
});

test('what an endpoint refuses, or never answers, is told again under the same id before anything that follows', async (t) => {
  const endpoint = await anEndpoint(t, 500, 0, 204);
  const { logger, lines } = aLogger();
  const bundle = hooked(endpoint.host, ', timeout_ms: 100');
  await withHost({ bundle, logger }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Go.' });
    assert.equal((await until(run.id, ended)).status, 'completed');
    await endpoint.until(() => endpoint.heard.some(isEnd));
  });
  assert.deepEqual(seqs(endpoint.heard).slice(0, 5), [1, 1, 1, 2, 3]);
  assert.equal(new Set(endpoint.heard.slice(0, 3).map(({ headers }) => headers['webhook-id'])).size, 1);
  assert.equal(lines.filter((line) => line.includes('could not tell')).length, 1);
  assert.ok(lines.every((line) => !line.includes(SECRET)));
});

test('a turn ends as ever where nobody listens, and the log line says why', async () => {
  const { logger, lines } = aLogger();
  await withHost({ bundle: hooked('127.0.0.1:1'), logger }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Go.' });
    assert.equal((await until(run.id, ended)).status, 'completed');
  });
  assert.match(lines.join('\n'), /could not tell a fact.*(ECONNREFUSED|bad port)/);
});

test('a private address that is not allowed is never asked', async (t) => {
  const endpoint = await anEndpoint(t, 204);
  const { logger, lines } = aLogger();
  const bundle = hooked(endpoint.host, '', 'other.example');
  await withHost({ bundle, logger }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Go.' });
    await until(run.id, ended);
  });
  assert.deepEqual(endpoint.heard, []);
  assert.match(lines.join('\n'), /could not tell a fact.*is a private address/);
});

test('another process that goes on with a turn tells all of it, what the first could not tell too', async (t) => {
  const endpoint = await anEndpoint(t, 503);
  const script = [{ actions: [{ name: 'mail', arguments: { to: 'bo' } }] }, { text: 'Sent.' }];
  await withHost({ bundle: hooked(endpoint.host), script }, async ({ host, log, until, another }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Write to bo.' });
    await until(run.id, ({ status }) => status === 'pending_action_approval');
    await endpoint.until(() => endpoint.heard.length > 0);
    await host.close({ drainMs: 100 });
    const untold = endpoint.heard.splice(0);
    assert.deepEqual(new Set(seqs(untold)), new Set([1]));
    endpoint.answer(204);
    const next = await another();
    await next.start();
    await next.runs.approve(ana, run.id);
    await endpoint.until(() => endpoint.heard.some(isEnd));
    const facts = await log.read(run.id, 0, 100);
    assert.deepEqual(
      seqs(endpoint.heard),
      facts.map(({ seq }) => seq),
    );
    assert.equal(endpoint.heard[0]?.headers['webhook-id'], untold[0]?.headers['webhook-id']);
  });
});

test('with a folder for it, what nobody took of a turn that had ended is told by the next process', async (t) => {
  const endpoint = await anEndpoint(t, 503);
  const folder = path.join(aFolder(t), 'untold');
  const bundle = hooked(endpoint.host, `, untold: ${JSON.stringify(folder)}`);
  await withHost({ bundle }, async ({ host, log, until, another }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Go.' });
    await until(run.id, ended);
    await host.close({ drainMs: 100 });
    assert.equal(readdirSync(folder).length, 1);
    endpoint.heard.splice(0);
    endpoint.answer(204);
    const next = await another();
    await endpoint.until(() => endpoint.heard.some(isEnd));
    await next.close({ drainMs: 100 });
    const facts = await log.read(run.id, 0, 100);
    assert.deepEqual(
      seqs(endpoint.heard),
      facts.map(({ seq }) => seq),
    );
    assert.deepEqual(readdirSync(folder), []);
  });
});

test('the places lie in the data folder where no other is named, and a crash in mid-attempt loses nothing', async (t) => {
  const endpoint = await anEndpoint(t, 0);
  const pluginFolder = aFolder(t);
  await withHost({ bundle: hooked(endpoint.host), pluginFolder }, async ({ host, log, until, another }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Go.' });
    await until(run.id, ended);
    await endpoint.until(() => endpoint.heard.length > 0);
    // Nothing of this process ends in order: another one begins with what lies there.
    endpoint.heard.splice(0);
    endpoint.answer(204);
    await another();
    await endpoint.until(() => endpoint.heard.some(isEnd));
    const facts = await log.read(run.id, 0, 100);
    assert.deepEqual(new Set(seqs(endpoint.heard)), new Set(facts.map(({ seq }) => seq)));
  });
});

test('an endpoint that asks to be left alone is left alone for so long, and others do not come back together', async () => {
  const { log, clock } = aLongLog(aClock(), 1);
  const waits: number[] = [];
  const spied = {
    now: () => clock.now(),
    after: (ms: number, then: () => void) => (waits.push(ms), clock.after(ms, then)),
  };
  const { logger } = aLogger();
  let askedMs: number | undefined = 90_000;
  const send = (): Promise<Sent> => Promise.resolve({ state: 'failed', why: 'busy', retryAfterMs: askedMs });
  const follower = followLog({
    log,
    clock: spied,
    logger,
    wants: () => true,
    send,
    giveUpMs: 1e9,
    fraction: () => 0.5,
  });
  follower.heard('c1', 1);
  await follower.quiet();
  askedMs = undefined;
  clock.advance(90_000);
  await follower.quiet();
  await settle();
  assert.deepEqual(waits, [90_000, 2_500]);
});

test('what was given up lies where people see it, and is told anew when it is moved back', async (t) => {
  const { log, clock } = aLongLog(aClock(), 3);
  const { logger } = aLogger();
  const folder = aFolder(t);
  const told: number[] = [];
  let isUp = false;
  const send = (fact: Fact): Promise<Sent> => {
    if (isUp) told.push(fact.seq);
    return Promise.resolve(isUp ? { state: 'taken' } : { state: 'failed', why: 'it answered 500' });
  };
  const follow = () =>
    followLog({
      ...{ log, clock, logger, send, wants: () => true, giveUpMs: 10, fraction: () => 0 },
      cursors: createCursorFolder(folder),
    });
  const first = follow();
  clock.advance(1_000);
  first.heard('c1', 3);
  await first.quiet();
  first.stop();
  const dead = path.join(folder, 'given-up');
  const [name = ''] = readdirSync(dead);
  const given = JSON.parse(readFileSync(path.join(dead, name), 'utf8')) as object;
  assert.deepEqual(
    { ...given, at: '' },
    { conversation: 'c1', after: 0, through: 3, facts: 3, why: 'it answered 500', at: '' },
  );
  isUp = true;
  renameSync(path.join(dead, name), path.join(folder, name));
  const next = follow();
  await next.quiet();
  next.stop();
  assert.deepEqual(told, [1, 2, 3]);
});

test('an endpoint that is gone for good is not asked again', async (t) => {
  const endpoint = await anEndpoint(t, 410);
  const { logger, lines } = aLogger();
  await withHost({ bundle: hooked(endpoint.host), logger }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Go.' });
    await until(run.id, ended);
  });
  assert.equal(endpoint.heard.length, 1);
  assert.match(lines.join('\n'), /nobody to tell any more/);
});

/** A conversation of one turn that has ended and so many facts of the next. */
function aLongLog(clock = aClock(), many = 250) {
  const log = createMemoryLog({ clock });
  const names = { agent: 'main', bundle: 'b', userId: 'ana', tenant: 'local', agentPath: 'main' };
  log.create({ id: 'c1', ...names, createdAt: clock.now() });
  const drafts = Array.from({ length: many }, (_, at) => ({ text: String(at), mode: 'message' as const }));
  for (const payload of drafts) log.post('c1', { type: 'io.input', payload });
  return { log, clock };
}

test('whoever is far behind reads the log again, and keeps no fact meanwhile', async () => {
  const { log, clock } = aLongLog();
  const told: number[] = [];
  let isUp = false;
  const { logger } = aLogger();
  const send = async (fact: Fact): Promise<Sent> => {
    await Promise.resolve();
    if (isUp) told.push(fact.seq);
    return isUp ? { state: 'taken' } : { state: 'failed', why: 'down' };
  };
  const follower = followLog({ log, clock, logger, wants: () => true, send, giveUpMs: 1e9, fraction: () => 0 });
  for (let seq = 1; seq <= 250; seq++) follower.heard('c1', seq);
  await follower.quiet();
  isUp = true;
  clock.advance(1_000);
  await follower.quiet();
  await settle();
  assert.deepEqual(
    told,
    Array.from({ length: 250 }, (_, at) => at + 1),
  );
});

test('a fact that nobody takes is given up when it is too old, and what follows is told', async () => {
  const { log, clock } = aLongLog(aClock(), 3);
  const told: number[] = [];
  const { logger, lines } = aLogger();
  let isUp = false;
  const send = (fact: Fact): Promise<Sent> => {
    if (isUp) told.push(fact.seq);
    return Promise.resolve(isUp ? { state: 'taken' } : { state: 'failed', why: 'down' });
  };
  const follower = followLog({ log, clock, logger, wants: () => true, send, giveUpMs: 10_000, fraction: () => 0 });
  follower.heard('c1', 3);
  await follower.quiet();
  for (let seconds = 0; seconds < 60; seconds++) {
    clock.advance(1_000);
    await follower.quiet();
  }
  isUp = true;
  log.post('c1', { type: 'io.input', payload: { text: 'new', mode: 'message' } });
  follower.heard('c1', 4);
  for (let seconds = 0; seconds < 400; seconds++) {
    clock.advance(1_000);
    await follower.quiet();
  }
  assert.deepEqual(told, [4]);
  assert.match(lines.join('\n'), /gave facts up that nobody took .*"facts":3,"last":"c1:3"/);
});

for (const [what, given, says] of [
  [
    'a secret of another shape',
    `secret: hunter2-is-no-secret`,
    /webhook"\]\.secret: found another text, wanted `whsec_`/,
  ],
  ['a secret that is too short', `secret: whsec_c2hvcnQ=`, /webhook"\]\.secret: found another text, wanted `whsec_`/],
  ['an address of a file', `url: "file:///etc/passwd", secret: ${SECRET}`, /webhook"\]\.url: found another text/],
  ['an event that there is not', `secret: ${SECRET}, types: [io.imput]`, /types\[0\].*a type of fact/],
  ['an event that passes', `secret: ${SECRET}, types: [tool.progress]`, /types\[0\].*a type of fact/],
] as const) {
  test(`${what} is refused when a bundle is loaded`, async () => {
    const url = given.startsWith('url') ? '' : 'url: "https://a.example/", ';
    const bundle = aBundle(`plugins:
  active: [observer.webhook]
  observer.webhook: { ${url}${given} }`);
    const refused = withHost({ bundle }, () => Promise.resolve());
    await assert.rejects(refused, (error: Error) => says.test(error.message) && !/hunter2|c2hv/.test(error.message));
  });
}

test('a rehearsal tells nobody', async (t) => {
  const folder = aFolder(t);
  const bundle = path.join(folder, 'post.yaml');
  writeFileSync(path.join(folder, 'post.tool.js'), 'export const look = { name: "look" };');
  writeFileSync(bundle, hooked('127.0.0.1:1').replace(/^surfaces:[^]*?(?=^models:)/m, ''));
  const opened = await openBundle({ bundle, log: createMemoryLog({ clock: systemClock }), observed: false });
  assert.ok(opened.manifests.every(({ id }) => !id.startsWith('observer.')));
  await opened.close(0);
});

function aFolder(t: Ending): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'treadle-observed-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function written(folder: string, format = 'md'): string {
  return aBundle(`plugins:
  active: [observer.transcript]
  observer.transcript: { folder: ${JSON.stringify(folder)}, format: ${format} }`);
}

for (const format of ['md', 'jsonl'] as const) {
  test(`when a run ends its transcript is a ${format} file, and the next turn replaces it`, async (t) => {
    const folder = path.join(aFolder(t), 'made');
    let wanted = '';
    let name = '';
    const script = [{ text: 'First.' }, { text: 'Second.' }];
    await withHost({ bundle: written(folder, format), script }, async ({ host, until }) => {
      const { run } = await host.runs.create(ana, { prompt: 'Go.' });
      await until(run.id, ended);
      await host.runs.say(ana, run.id, { content: 'Go on.' });
      await until(run.id, ({ terminal, turns }) => terminal && turns === 2);
      const pieces = await host.runs.transcript(ana, run.id, format);
      for (let next = pieces.next(); next.done !== true; next = pieces.next()) wanted += next.value;
      name = `${run.id}.${format}`;
    });
    assert.deepEqual(readdirSync(folder), [name]);
    assert.equal(readFileSync(path.join(folder, name), 'utf8'), wanted);
    assert.match(wanted, /First\.[^]*Second\./);
  });
}

test('a folder that cannot be written costs a log line and no turn', async (t) => {
  const folder = path.join(aFolder(t), 'taken');
  writeFileSync(folder, 'a file');
  const { logger, lines } = aLogger();
  await withHost({ bundle: written(folder), logger }, async ({ host, until }) => {
    const { run } = await host.runs.create(ana, { prompt: 'Go.' });
    assert.equal((await until(run.id, ended)).status, 'completed');
  });
  assert.match(lines.join('\n'), /a transcript could not be written/);
});
