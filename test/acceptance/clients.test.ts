// Acceptance cases 49, 50, 52, 54 and 60: what clients do with a server, a good one and a bad one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { ClientError } from '../../src/client/index.ts';
import { aPage, aSnapshot, ended, refusal, serveScript, type Received } from '../client/scripted-server.ts';
import { treadle, workplace } from '../cli/treadle.ts';
import { Aurora } from './aurora-client.ts';
import { aHouse, mails } from './house.ts';

test('49 429 with Retry-After is honoured within the deadline', async (t) => {
  const server = await serveScript(t, [refusal(429, 'rate_limit_exceeded', { 'retry-after': '1' }), aSnapshot()]);
  const began = performance.now();
  await server.client().snapshot('run_1');
  assert.ok(performance.now() - began >= 990);
  await assert.rejects(server.client({ deadlineMs: 500 }).list(), { code: 'invalid_response' }); // the last reply repeats
  const late = await serveScript(t, [refusal(429, 'rate_limit_exceeded', { 'retry-after': '60' })]);
  await assert.rejects(late.client().snapshot('run_1'), { code: 'rate_limit_exceeded', retryAfter: 60 });
  assert.equal(late.received.length, 1);
});

test('the server’s own 429 says how long, and is waited for', async (t) => {
  const house = await aHouse(t, { server: { rate: { perSecond: 2, burst: 2 } } });
  const id = await house.begin('hello');
  const replies = await Promise.all([1, 2, 3, 4].map(() => house.call('GET', `/api/v1/runs/${id}`)));
  const refused = replies.find(({ status }) => status === 429);
  assert.equal(refused?.code, 'rate_limit_exceeded');
  assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
  const client = house.client();
  const snapshots = await Promise.all([1, 2, 3, 4].map(() => client.snapshot(id)));
  assert.ok(snapshots.every((one) => one.id === id));
});

test('50 5xx on create: the error carries the key; a retry with it finds the run', async (t) => {
  const house = await aHouse(t);
  let isCut = true;
  // The run begins, and the reply to it is lost.
  const client = house.client({
    deadlineMs: 100,
    async fetch(url, init) {
      const reply = await fetch(url, init);
      if (!isCut) return reply;
      await reply.body?.cancel();
      return Response.json(
        { error: { code: 'bad_gateway', message: 'lost' } },
        { status: 502, headers: { 'retry-after': '9' } },
      );
    },
  });
  const error: unknown = await client.create({ prompt: mails }).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof ClientError);
  assert.equal(error.code, 'outcome_unknown');
  isCut = false;
  const run = await client.create({ prompt: mails }, { idempotencyKey: error.idempotencyKey });
  const { runs } = await client.list();
  assert.deepEqual(
    runs.map(({ id }) => id),
    [run.id],
  );
});

test('52 Unknown status word from a newer server: treated as not terminal', async (t) => {
  const server = await serveScript(t, [aPage([], { status: 'pondering', statusKind: 'pondering' }), aPage([], ended)]);
  const statuses: string[] = [];
  for await (const event of server.client().run('run_1', { stream: false, firstPollMs: 1 }))
    if (event.type === 'status') statuses.push(event.status);
  assert.deepEqual(statuses, ['pondering', 'completed']);
});

test('54 Summary mode prints counts and states only', async (t) => {
  const cwd = workplace(t);
  const fixture = await treadle(['inspect', '--fixture'], { cwd });
  assert.equal(fixture.out, '{"mode":"local fixture","uniqueMessages":2,"editedMessageReplaced":true}\n');
  const house = await aHouse(t);
  const id = await house.begin(mails);
  await house.rest(id);
  const env = { TREADLE_URL: house.url, TREADLE_API_KEY: house.keys.read };
  const { out, code } = await treadle(['inspect', id], { cwd, env });
  assert.deepEqual(
    [code, JSON.parse(out)],
    [
      0,
      {
        mode: 'existing run',
        snapshotStatus: 'pending_action_approval',
        snapshotTerminal: false,
        pageStatus: 'pending_action_approval',
        pageTerminal: false,
        needsInput: false,
        pendingApproval: 'action',
        pages: 1,
        uniqueMessages: 2,
        replaced: 0,
        complete: true,
      },
    ],
  );
  assert.ok(!out.includes(id));
  for (const named of [[], ['last'], [id.slice(0, 14)], [id.slice('run_'.length)]])
    assert.equal((await treadle(['inspect', ...named], { cwd, env })).out, out, named.join());
  for (const named of ['run_nobody', 'nobody']) {
    const none = await treadle(['inspect', named], { cwd, env });
    assert.deepEqual([none.code, none.out, /not_found/.test(none.err)], [2, '', true]);
  }
  const both = await treadle(['inspect', id, '--fixture'], { cwd, env });
  assert.deepEqual([both.code, both.out], [2, '']);
  const nowhere = await treadle(['inspect'], { cwd });
  assert.deepEqual([nowhere.code, nowhere.out, /No server is up/.test(nowhere.err)], [2, '', true]);
});

/** What counts of a request: every byte that means something, and none that the platform adds. */
function bytesOf({ method, url, headers, body }: Received): unknown {
  const { authorization, accept } = headers;
  return [method, url, authorization, accept, headers['content-type'], headers['idempotency-key'], body];
}

const ODD_IDS = ['run_1', "a b/c!'()*", 'ä?#%', '...', '日本'];

test('60 Python and TypeScript clients send byte-identical requests for the shared fixture, odd ids included', async (t) => {
  const reply = { body: { agent: { id: 'run_1', status: 'running', prompt: '', terminal: false } } };
  const server = await serveScript(t, ({ url }) => (url.includes('/events') ? aPage([]) : reply));
  const base = `${server.url}/api/v1`;
  const script = path.join(import.meta.dirname, 'aurora_client.py');
  const python = spawn('python3', [script, base, 'sk-test', JSON.stringify(ODD_IDS)]);
  let trouble = '';
  python.stderr.on('data', (chunk: Buffer) => (trouble += chunk.toString()));
  const isThere = await new Promise<boolean>((resolve) => {
    python.on('error', () => resolve(false));
    python.on('close', () => resolve(true));
  });
  const aurora = new Aurora({ base, key: 'sk-test' });
  const fromPython = server.received.splice(0).map(bytesOf);
  await aurora.send('POST', 'agents', { prompt: 'Grüße 😀', maxIterations: 3 }, 'key-1');
  for (const id of ODD_IDS) {
    await aurora.snapshot(id);
    await aurora.page(id, 'c/1+=', 50);
    const run = await aurora.attach(id);
    await aurora.send('POST', `${run.path}/approve`, {}, 'key-2');
    await aurora.send('POST', `${run.path}/messages`, { content: 'go on' }, 'key-3');
  }
  const fromTypeScript = server.received.map(bytesOf);
  assert.equal(fromTypeScript.length, 1 + ODD_IDS.length * 5);
  // On a machine without Python only the one client can be looked at.
  if (isThere) assert.deepEqual([trouble, fromPython], ['', fromTypeScript]);
});
