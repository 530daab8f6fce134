import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReadOptions, Run, RunEvent } from '../../src/client/index.ts';
import { anEntry, aPage, aRequest, aSnapshot, aStream, ended, refusal, serveScript } from './scripted-server.ts';

const polls: ReadOptions = { stream: false, firstPollMs: 1, longestPollMs: 1 };

/** Events as words: `a` for an entry, `a!` for one that replaces, `?r` for a request, `=s` for a status. */
function word(event: RunEvent): string {
  switch (event.type) {
    case 'entry':
      return event.entry.text + (event.replaces ? '!' : '');
    case 'request':
      return `?${event.request.id}`;
    case 'status':
      return `=${event.status}`;
    default:
      return event.type;
  }
}

async function story(run: Run): Promise<string> {
  const words: string[] = [];
  for await (const event of run) words.push(word(event));
  return words.join(' ');
}

test('a page that is terminal and has more is not the end', async (t) => {
  const server = await serveScript(t, [
    aPage([anEntry('a')], { ...ended, hasMore: true }),
    aPage([anEntry('b')], ended),
  ]);
  assert.equal(await story(server.client().run('run_1', polls)), 'a =completed b');
});

test('an entry with a new digest is handed out as replacing, one sent again unchanged is not', async (t) => {
  const server = await serveScript(t, [
    aPage([anEntry('a'), anEntry('b')]),
    aPage([anEntry('b'), anEntry('a', 'A')]),
    aPage([anEntry('a')], ended), // back to what it was: an edit like any other
  ]);
  const run = server.client().run('run_1', polls);
  assert.equal(await story(run), 'a b =running A! a! =completed');
  assert.equal(run.entries().length, 2);
});

test('of an entry that stands twice in one page only the last is handed out', async (t) => {
  const server = await serveScript(t, [aPage([anEntry('a', 'draft'), anEntry('a', 'final')], ended)]);
  assert.equal(await story(server.client().run('run_1', polls)), 'final =completed');
});

test('where a server gives no digest, the content tells whether an entry has changed', async (t) => {
  const server = await serveScript(t, [
    aPage([anEntry('a', 'one', ''), anEntry('b', 'two', '')]),
    aPage([anEntry('a', 'one', ''), anEntry('b', 'three', '')], ended),
  ]);
  assert.equal(await story(server.client().run('run_1', polls)), 'one two =running three! =completed');
});

test('a request is handed out once, though no entry came with it and many pages show it', async (t) => {
  const waits = { status: 'pending_action_approval', pendingApproval: { kind: 'action' } };
  let pages = 0;
  const server = await serveScript(t, ({ url }) => {
    if (!url.includes('/events'))
      return aSnapshot({ requests: [aRequest('r1'), ...(pages > 2 ? [aRequest('r2')] : [])] });
    return aPage([], ++pages > 4 ? ended : { ...waits, version: pages });
  });
  assert.equal(await story(server.client().run('run_1', polls)), '=pending_action_approval ?r1 ?r2 =completed');
});

test('a page with a pending approval that has no kind is refused', async (t) => {
  const server = await serveScript(t, [aPage([], { pendingApproval: 'action' })]);
  await assert.rejects(story(server.client().run('run_1', polls)), { code: 'invalid_response' });
});

test('whoever leaves the loop after the first of three events gets the other two in the next one', async (t) => {
  const server = await serveScript(t, [aPage([anEntry('a'), anEntry('b'), anEntry('c')], ended)]);
  const run = server.client().run('run_1', polls);
  for await (const event of run) {
    assert.equal(word(event), 'a');
    break;
  }
  assert.equal(run.cursor, undefined);
  assert.equal(await story(run), 'b c =completed');
  assert.equal(run.cursor, 'c3');
});

test('a failure on the way is thrown, and the next loop goes on from the cursor', async (t) => {
  const server = await serveScript(t, [aPage([anEntry('a')]), refusal(404, 'not_found'), aPage([anEntry('b')], ended)]);
  const run = server.client().run('run_1', polls);
  await assert.rejects(story(run), { code: 'not_found', status: 404 });
  assert.equal(await story(run), 'b =completed');
  assert.match(server.received[2]?.url ?? '', /cursor=c1$/);
});

test('pages without a cursor keep the one before', async (t) => {
  const server = await serveScript(t, [aPage([anEntry('a')]), aPage([], { nextCursor: '' }), aPage([], ended)]);
  await story(server.client().run('run_1', polls));
  assert.match(server.received[2]?.url ?? '', /cursor=c1$/);
});

test('the end that a page shows is older than what was just said, and is not believed', async (t) => {
  let said = false;
  const server = await serveScript(t, ({ method }) => {
    if (method === 'POST') {
      said = true;
      return aSnapshot({ version: 12 });
    }
    const pages = server.received.filter((one) => one.method === 'GET').length;
    return said && pages > 2 ? aPage([anEntry('b')], { ...ended, version: 15 }) : aPage([anEntry('a')], ended);
  });
  const run = server.client().run('run_1', polls);
  assert.equal(await story(run), 'a =completed');
  await run.say('go on');
  assert.equal(await story(run), 'b');
});

test('a status that is not known does not end the reading', async (t) => {
  const server = await serveScript(t, [aPage([], { status: 'pondering' }), aPage([anEntry('a')], ended)]);
  assert.equal(await story(server.client().run('run_1', polls)), '=pondering a =completed');
});

test('a run that waits for nobody in particular ends the patience, and says whom it waits for', async (t) => {
  const server = await serveScript(t, ({ url }) =>
    url.includes('/events') ? aPage([], { status: 'awaiting_user_input', needsInput: true }) : aSnapshot(),
  );
  const run = server.client().run('run_1', { ...polls, giveUpMs: 20 });
  await assert.rejects(story(run), { code: 'run_awaiting_input' });
});

test('one handle has one reader', async (t) => {
  const server = await serveScript(t, [aPage([anEntry('a'), anEntry('b')], ended)]);
  const run = server.client().run('run_1', polls);
  for await (const event of run) {
    assert.equal(word(event), 'a');
    await assert.rejects(story(run), { code: 'already_reading' });
    break;
  }
});

test('a signal ends the reading at once', async (t) => {
  const server = await serveScript(t, [aPage([])]);
  const run = server.client().run('run_1', { stream: false });
  const abort = new AbortController();
  const reading = (async () => {
    for await (const event of run.events({ signal: abort.signal })) {
      abort.abort(new Error(word(event)));
    }
  })();
  await assert.rejects(reading, { message: '=running' });
});

test('what is new comes over the stream, and the end is checked against a page', async (t) => {
  const server = await serveScript(t, ({ url }) => {
    const isFirst = server.received.length === 0;
    if (!url.includes('/stream')) return isFirst ? aPage([anEntry('a')]) : aPage([], { ...ended, nextCursor: 'c9' });
    return aStream(
      [
        { type: 'delta', id: 'b', kind: 'text', attempt: 1, delta: 'b' },
        { type: 'entry', entry: anEntry('b'), cursor: 'c5' },
        { type: 'comet', cursor: 'c6' },
        { type: 'end', status: 'completed', cursor: 'c7' },
      ],
      { open: true },
    );
  });
  const run = server.client().run('run_1', { deltas: true });
  assert.equal(await story(run), 'a =running delta b =completed');
  assert.equal(run.cursor, 'c9');
  assert.match(server.received[1]?.url ?? '', /stream\?cursor=c1&deltas=true$/);
});

test('a stream that is cut off is taken up again at the last cursor', async (t) => {
  let streams = 0;
  const server = await serveScript(t, ({ url }) => {
    if (!url.includes('/stream')) return aPage([], streams < 2 ? { nextCursor: '' } : ended);
    return aStream([{ type: 'entry', entry: anEntry(`e${++streams}`), cursor: `s${streams}` }]);
  });
  assert.equal(await story(server.client().run('run_1')), '=running e1 e2 =completed');
  assert.ok(server.received.some((one) => one.url.endsWith('/stream?cursor=s1')));
});

test('a server without streams is read page by page', async (t) => {
  const server = await serveScript(t, ({ url }) => {
    if (url.includes('/stream')) return refusal(503, 'too_many_streams');
    return server.received.length < 4 ? aPage([]) : aPage([anEntry('a')], ended);
  });
  const run = server.client().run('run_1', { firstPollMs: 1, longestPollMs: 1 });
  assert.equal(await story(run), '=running a =completed');
  assert.equal(server.received.filter((one) => one.url.includes('/stream')).length, 1);
});

test('an answer names the request and its digest, and each call has a key of its own', async (t) => {
  const server = await serveScript(t, [{ body: { receipts: [], open: [], status: 'running', version: 2 } }]);
  const run = server.client().run('run_1', polls);
  const request = aRequest('r1', { run: 'run_2' }) as Parameters<Run['allow']>[0]; // as a snapshot gives it
  await run.allow(request);
  await run.edit(request, { n: 1 }, { note: 'less' });
  const sent = server.received.map((one) => JSON.parse(one.body) as unknown);
  assert.deepEqual(sent, [
    [{ request: 'r1', run: 'run_2', digest: 'd-r1', decision: 'allow' }],
    [{ request: 'r1', run: 'run_2', digest: 'd-r1', decision: 'edit', arguments: { n: 1 }, note: 'less' }],
  ]);
  assert.equal(new Set(server.received.map((one) => one.headers['idempotency-key'])).size, 2);
});
