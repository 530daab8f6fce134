// Every route of both surfaces, against the schemas that describe it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryNotes } from '../../src/adapters/stores/notes/memory.ts';
import {
  allowanceRoutes,
  API,
  noteRoutes,
  NEXUSTRADE_API,
  nexustradeRoutes,
  runRoutes,
  WIRE_ERRORS,
  type RouteShape,
  type RouteTable,
} from '../../src/http/wire.ts';
import { aServer, linesFile, type Call, type Reply, type Served } from './server.ts';

/** Calls a route by its name, and holds its reply against its schema and its status. */
function caller({ call }: Served, prefix: string, table: RouteTable) {
  const left = new Set(Object.keys(table));
  const ask = async (name: string, id = '', more: Call & { readonly query?: string } = {}): Promise<Reply['body']> => {
    const shape: RouteShape | undefined = table[name];
    assert.ok(shape !== undefined);
    left.delete(name);
    const at = `${prefix}${shape.path.replace('{id}', id).replace('{iteration}', '1')}${more.query ?? ''}`;
    const { status, body } = await call(shape.method, at, more);
    assert.equal(status, shape.status, `${name}: ${JSON.stringify(body)}`);
    const parsed = shape.reply?.safeParse(body);
    assert.equal(parsed?.error?.message, undefined, name);
    // A field that the schema does not know would be lost to whoever reads by it.
    if (parsed !== undefined) assert.deepEqual(parsed.data, body, name);
    return body;
  };
  return { ask, left };
}

type Open = { requests: { id: string; digest: string }[] };
const allow = ({ requests }: Open) =>
  requests.map(({ id, digest }) => ({ request: id, digest, decision: 'allow' as const }));

test('every route of the run API answers as its table says', async (t) => {
  const served = await aServer(t);
  const { ask, left } = caller(served, API, runRoutes);
  const file = linesFile(t);
  await ask('listAgents');
  const { id } = (await ask('createRun', '', {
    body: { prompt: `write ${file}`, maxIterations: 3, metadata: { from: 'test' } },
  })) as { id: string };
  await served.rest(id);
  const waiting = (await ask('readRun', id)) as unknown as Open;
  await ask('answerRun', id, { body: allow(waiting) });
  await served.rest(id);
  await ask('readEvents', id, { query: '?limit=100' });
  await ask('readLog', id, { query: '?after=0&limit=1000' });
  await ask('readPrompt', id);
  await ask('readCalls', id, { query: '?after=0&limit=1000' });
  assert.equal((await ask('replayRun', id))['same'], true);
  await ask('sayToRun', id, { body: { content: 'hang', mode: 'followup' } });
  await ask('stopRun', id);
  await served.rest(id);
  await ask('resumeRun', id);
  await ask('stopRun', id, { body: {} });
  await served.rest(id);
  await ask('forkRun', id, { body: { metadata: { copy: 'yes' } } });
  await ask('renameRun', id, { body: { title: 'Another name' } });
  await ask('archiveRun', id);
  await ask('archiveRun', id, { body: { archived: false } });
  await ask('listRuns', '', { query: '?status=stopped,completed&archived=any&limit=10&q=write' });
  const { runs } = await ask('listRuns', '', { query: '?archived=any&label=copy%3Dyes' });
  assert.deepEqual(
    (runs as { metadata: unknown }[]).map(({ metadata }) => metadata),
    [{ copy: 'yes' }],
  );
  assert.equal((await served.call('GET', `${API}/runs?label=copy`)).code, 'invalid_request');
  await ask('readUsage', '', { query: '?by=agent' });
  await ask('removeRun', id);
  // Those that have a test of their own.
  assert.deepEqual([...left], ['followRun', 'readTranscript', 'deliver', 'tellEvents']);
});

test('every route of allowances answers as its table says', async (t) => {
  const served = await aServer(t);
  const { ask, left } = caller(served, API, allowanceRoutes);
  const file = linesFile(t);
  const id = await served.begin(`write ${file}`);
  const [first] = ((await served.rest(id)) as unknown as Open).requests;
  const answer = { request: first?.id, digest: first?.digest, decision: 'allow' };
  const beyond = await served.call('POST', `${API}/runs/${id}/answers`, { body: [{ ...answer, allow: 'ever' }] });
  assert.deepEqual([beyond.status, beyond.code], [422, 'invalid_request']);
  const given = await served.call('POST', `${API}/runs/${id}/answers`, { body: [{ ...answer, allow: 'always' }] });
  assert.equal((given.body['receipts'] as { allow: string }[])[0]?.allow, 'always');
  await served.rest(id);
  const { allowances } = (await ask('listAllowances', '', { query: `?run=${id}` })) as unknown as {
    allowances: { id: string; tool: string; scope: string }[];
  };
  assert.deepEqual(
    allowances.map(({ tool, scope }) => [tool, scope]),
    [['approved_line', 'always']],
  );
  const reader = await served.key({ scopes: ['read'] });
  const forbidden = await served.call('DELETE', `${API}/allowances/${allowances[0]?.id ?? ''}`, { as: reader });
  assert.equal(forbidden.code, 'insufficient_scope');
  const own = await served.key({ userId: 'local', tenant: 'local' });
  await ask('revokeAllowance', allowances[0]?.id, { as: own });
  const gone = await served.call('DELETE', `${API}/allowances/${allowances[0]?.id ?? ''}`, { as: own });
  assert.deepEqual([gone.status, gone.code], [404, 'not_found']);
  assert.deepEqual([...left], []);
});

test('every route of notes answers as its table says, to whoever they are of', async (t) => {
  const notes = createMemoryNotes();
  const ana = { tenant: 'acme', userId: 'ana', bundle: 'desk' };
  for (let n = 1; n <= 3; n++)
    notes.saveNote(ana, { id: `n${n}`, text: `tea ${n}`, pinned: n === 1, createdAt: n, updatedAt: n }, 9);
  const served = await aServer(t, { notes });
  const as = await served.key({ userId: 'ana', tenant: 'acme', scopes: ['read', 'run'] });
  const { ask, left } = caller(served, API, noteRoutes);
  const first = await ask('listNotes', '', { as, query: '?limit=2' });
  const rest = await ask('listNotes', '', { as, query: `?limit=2&cursor=${String(first['nextCursor'])}` });
  const ids = [first, rest].map(({ notes: found }) => (found as { id: string }[]).map(({ id }) => id));
  assert.deepEqual([ids, first['total'], rest['hasMore']], [[['n1', 'n3'], ['n2']], 3, false]);
  assert.equal((await ask('listNotes', '', { as, query: '?q=2' }))['total'], 3);
  assert.equal((await ask('changeNote', 'n2', { as, body: { text: ' coffee ', pinned: true } }))['text'], 'coffee');
  assert.equal((await ask('readNote', 'n2', { as }))['pinned'], true);
  await ask('deleteNote', 'n2', { as });
  assert.deepEqual([...left], []);
  const bo = await served.key({ userId: 'bo', tenant: 'acme' });
  const boss = await served.key({ userId: 'boss', tenant: 'acme', scopes: ['admin'] });
  const far = await served.key({ userId: 'ana', tenant: 'other', scopes: ['admin'] });
  const reader = await served.key({ userId: 'ana', tenant: 'acme', scopes: ['read'] });
  const codes = [];
  for (const [key, method, at] of [
    [as, 'GET', 'n2'],
    [bo, 'GET', 'n1'],
    [bo, 'GET', 'n1?user=ana'],
    [boss, 'GET', 'n1?user=ana'],
    [boss, 'GET', 'n1'],
    [far, 'GET', 'n1'],
    [reader, 'DELETE', 'n1'],
  ] as const)
    codes.push((await served.call(method, `${API}/notes/${at}`, { as: key })).code);
  const none = 'not_found';
  assert.deepEqual(codes, [none, none, 'insufficient_scope', undefined, none, none, 'insufficient_scope']);
  const bad = await served.call('PATCH', `${API}/notes/n1`, { as, body: { text: '  ' } });
  assert.deepEqual([bad.status, bad.code], [422, 'invalid_request']);
  const other = await served.call('GET', `${API}/notes?cursor=${String(first['nextCursor'])}`, { as: boss });
  assert.equal(other.code, 'invalid_cursor');
});

test('every route of the requirement wire answers as its table says', async (t) => {
  const served = await aServer(t);
  const { ask, left } = caller(served, NEXUSTRADE_API, nexustradeRoutes);
  const file = linesFile(t);
  const { agent } = (await ask('createAgent', '', { body: { prompt: `write ${file}` } })) as { agent: { id: string } };
  await served.rest(agent.id);
  await ask('readAgent', agent.id);
  await ask('readAgentEvents', agent.id, { query: '?limit=50' });
  await ask('listAgentRuns');
  await ask('approveAgent', agent.id, { body: {} });
  await served.rest(agent.id);
  await ask('sayToAgent', agent.id, { body: { content: `write ${file}` } });
  await served.rest(agent.id);
  await ask('rejectAgent', agent.id, { body: {} });
  await ask('stopAgent', agent.id, { body: {} });
  assert.deepEqual([...left], []);
});

test('the requirement wire shows messages, with roles and texts, and the snapshot under agent', async (t) => {
  const { call, begin, rest } = await aServer(t);
  const id = await begin('hello');
  await rest(id);
  const page = await call('GET', `${NEXUSTRADE_API}/agents/${id}/events`);
  const events = page.body['events'] as { role: string; text: string }[];
  assert.deepEqual(
    events.map(({ role, text }) => [role, text]),
    [
      ['user', 'hello'],
      ['assistant', 'You said: hello'],
      ['end', 'completed'],
    ],
  );
  const { agent } = (await call('GET', `${NEXUSTRADE_API}/agents/${id}`)).body as { agent: Record<string, unknown> };
  assert.deepEqual(
    ['id', 'status', 'prompt', 'terminal'].map((name) => agent[name]),
    [id, 'completed', 'hello', true],
  );
});

test('approving works while exactly one request is open', async (t) => {
  const { call, begin, rest } = await aServer(t);
  const id = await begin('hello');
  await rest(id);
  const none = await call('POST', `${NEXUSTRADE_API}/agents/${id}/approve`, { body: {} });
  assert.deepEqual([none.status, none.code], [400, 'nothing_pending']);
});

test('a ticket that nothing waits for is unknown', async (t) => {
  const { call, begin, rest } = await aServer(t);
  const id = await begin('hello');
  await rest(id);
  const { status, code } = await call('POST', `${API}/runs/${id}/computations`, {
    body: { ticket: 'none', outcome: 'ok', value: { done: true } },
  });
  assert.deepEqual([status, code], [404, 'ticket_unknown']);
});

test('an answer with another digest answers nothing, and an edit that does not fit leaves the request open', async (t) => {
  const { call, begin, rest } = await aServer(t);
  const id = await begin(`write ${linesFile(t)}`);
  const [first] = ((await rest(id)) as unknown as Open).requests;
  const answer = async (more: Record<string, unknown>) => {
    const body = [{ request: first?.id, digest: first?.digest, ...more }];
    const { status, code } = await call('POST', `${API}/runs/${id}/answers`, { body });
    return [status, code];
  };
  assert.deepEqual(await answer({ decision: 'allow', digest: '0'.repeat(64) }), [409, 'digest_mismatch']);
  assert.deepEqual(await answer({ decision: 'edit', arguments: { file: 1 } }), [400, 'answer_invalid']);
  assert.deepEqual(await answer({ decision: 'allow', request: 'none' }), [404, 'request_unknown']);
  assert.equal(((await rest(id)) as unknown as Open).requests.length, 1);
});

test('health is told without a key, figures are not', async (t) => {
  const figures = {
    answered: () => undefined,
    streams: () => undefined,
    read: () => ({ contentType: 'text/plain', text: 'treadle_runs 1\n' }),
  };
  const { call, key, url } = await aServer(t, { figures });
  const admin = await key({ scopes: ['admin'] });
  assert.equal((await call('GET', '/health')).body['status'], 'ok');
  assert.deepEqual((await call('GET', '/ready')).body, { ready: true });
  assert.equal((await call('GET', '/metrics')).code, 'invalid_token');
  const given = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${admin}` } });
  assert.equal(await given.text(), 'treadle_runs 1\n');
});

test('figures hear of every request, by the name of its route', async (t) => {
  const heard: string[] = [];
  const figures = {
    answered: ({ route, method, status }: { route: string; method: string; status: number }) =>
      void heard.push(`${method} ${route} ${status}`),
    streams: () => undefined,
    read: () => ({ contentType: 'text/plain', text: '' }),
  };
  const { call } = await aServer(t, { figures });
  await call('GET', '/api/v1/runs');
  await call('GET', '/api/v1/runs/none');
  await call('GET', '/nowhere');
  assert.deepEqual(heard, ['GET listRuns 200', 'GET readRun 404', 'GET none 404']);
});

test('a server that is about to end says so, and takes nothing new', async (t) => {
  const { server, url, call } = await aServer(t);
  // A connection from before, since none is taken any more.
  const before = await fetch(`${url}/health`, { headers: { connection: 'keep-alive' } });
  await before.text();
  const closing = server.close({ drainMs: 50 });
  await assert.rejects(call('GET', '/ready'));
  await closing;
});

test('every status of the codes is one that HTTP has for an error', () => {
  for (const [code, { status }] of Object.entries(WIRE_ERRORS)) assert.ok(status >= 400 && status < 600, code);
});
