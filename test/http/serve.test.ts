// The server as a process: how it starts, how it ends, and what a kill leaves.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, test, type TestContext } from 'node:test';
import { isObject } from '../../src/base/json.ts';
import { inside } from '../cli/inside.ts';
import { OUTCOMES, start } from '../cli/treadle.ts';
import { temporaryFolder } from '../stores/temporary.ts';
import { follow } from './events.ts';

interface Running {
  readonly url: string;
  readonly child: ChildProcess;
  /** Ends it with a signal and gives its exit code. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>;
  readonly ask: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Asked>;
}

interface Asked {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function serve(t: TestContext, cwd: string, args: readonly string[] = []): Promise<Running> {
  const child = start(['serve', OUTCOMES, '--port', '0', '--data', path.join(cwd, 'data'), ...args], { cwd });
  t.after(() => child.kill('SIGKILL'));
  let told = '';
  child.stderr?.on('data', (chunk: Buffer) => (told += chunk.toString()));
  const lines = createInterface(child.stdout ?? process.stdin)[Symbol.asyncIterator]();
  const first: IteratorResult<string, unknown> = await lines.next();
  const url = /^Treadle listens on (http:\S+)$/.exec(String(first.value))?.[1];
  assert.ok(url !== undefined, `it said: ${String(first.value)}\n${told}`);
  return {
    url,
    child,
    async end(signal) {
      const ended = once(child, 'exit');
      child.kill(signal);
      const [code] = (await ended) as [number | null];
      return code;
    },
    async ask(method, at, body, headers = {}) {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
      const reply = await fetch(`${url}/api/v1${at}`, { method, headers: { ...type, ...headers }, ...sent });
      const parsed: unknown = JSON.parse((await reply.text()) || '{}');
      return { status: reply.status, body: isObject(parsed) ? parsed : {} };
    },
  };
}

async function until<T>(what: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const found = await what();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

const atRest = ({ ask }: Running, id: string): Promise<Record<string, unknown>> =>
  until(async () => {
    const { body } = await ask('GET', `/runs/${id}`);
    return body['statusKind'] === 'working' ? undefined : body;
  });

const begin = async ({ ask }: Running, prompt: string): Promise<string> => {
  const { body } = await ask('POST', '/runs', { prompt });
  return String(body['id']);
};

const allowAll = (run: Record<string, unknown>): unknown =>
  (run['requests'] as { id: string; digest: string }[]).map(({ id, digest }) => ({
    request: id,
    digest,
    decision: 'allow',
  }));

describe('a server', { concurrency: 3 }, () => {
  test('says first where it listens, and ends by itself when it is told to', async (t) => {
    const folder = temporaryFolder(t);
    const server = await serve(t, folder);
    const note = path.join(folder, 'data', 'server.json');
    assert.deepEqual(JSON.parse(readFileSync(note, 'utf8')), { url: server.url, pid: server.child.pid });
    assert.equal((await fetch(`${server.url}/health`)).status, 200);
    assert.equal(await server.end('SIGTERM'), 0);
    assert.equal(existsSync(note), false);
  });

  test('says what is wrong with where it is to listen, what it is to serve and where runs are kept', async (t) => {
    const cwd = temporaryFolder(t);
    const server = await serve(t, cwd);
    const port = new URL(server.url).port;
    writeFileSync(path.join(cwd, 'broken.db'), 'x');
    const tried = await Promise.all(
      [
        [OUTCOMES, '--port', port, '--memory'],
        ['nowhere.yaml', '--memory'],
        [OUTCOMES, '--memory', '--port', '70000'],
        [OUTCOMES, '--memory', '--host', '0.0.0.0', '--port', '0'],
        [OUTCOMES, '--memory', '--cors', '*'],
        [OUTCOMES, '--memory', '--oidc-issuer', 'https://id.example'],
        [OUTCOMES, '--data', path.join(cwd, 'broken.db')],
        [OUTCOMES, OUTCOMES, '--memory'],
      ].map((args) => inside(['serve', ...args], { cwd })),
    );
    assert.deepEqual(
      tried.map(({ code, out, err }) => [code, out, /code +(\w+)/.exec(err)?.[1]]),
      [
        [2, '', 'address_unavailable'],
        [2, '', 'bundle_unreadable'],
        [2, '', 'usage'],
        [2, '', 'usage'],
        [2, '', 'usage'],
        [2, '', 'usage'],
        [74, '', 'log_unavailable'],
        [2, '', 'bundle_conflict'],
      ],
    );
  });

  test('lets in whoever has a key from the moment that one was made, and nobody once it is revoked', async (t) => {
    const cwd = temporaryFolder(t);
    const server = await serve(t, cwd);
    const data = ['--data', path.join(cwd, 'data')];
    assert.equal((await server.ask('GET', '/runs')).status, 200);
    const made = await inside(['keys', 'create', '--name', 'laptop', '--scopes', 'read', '--json', ...data], { cwd });
    const { key, id } = JSON.parse(made.out) as { key: string; id: string };
    const as = { authorization: `Bearer ${key}` };
    assert.deepEqual(
      [(await server.ask('GET', '/runs')).status, (await server.ask('GET', '/runs', undefined, as)).status],
      [401, 200],
    );
    const listed = await inside(['keys', 'list', ...data], { cwd });
    assert.match(listed.out, new RegExp(`^${id} {2}laptop {2}local/local {2}read {2}used `));
    assert.equal(listed.out.includes(key), false);
    assert.equal((await inside(['keys', 'revoke', id.slice(0, 6), ...data], { cwd })).code, 0);
    assert.equal((await server.ask('GET', '/runs', undefined, as)).status, 401);
  });

  test('killed while a run waits for a person, and started again, runs the approved action once', async (t) => {
    const cwd = temporaryFolder(t);
    const file = path.join(cwd, 'lines.txt');
    const first = await serve(t, cwd);
    const id = await begin(first, `write ${file}`);
    const waiting = await atRest(first, id);
    await first.end('SIGKILL');
    const second = await serve(t, cwd);
    const approve = () => second.ask('POST', `/runs/${id}/answers`, allowAll(waiting), { 'idempotency-key': 'yes' });
    assert.deepEqual([(await approve()).status, (await approve()).status], [200, 200]);
    assert.equal((await atRest(second, id))['status'], 'completed');
    assert.equal(readFileSync(file, 'utf8'), 'one\n');
  });

  test('killed right after an approval, and started again, runs the action once', async (t) => {
    const cwd = temporaryFolder(t);
    const file = path.join(cwd, 'lines.txt');
    const first = await serve(t, cwd);
    const id = await begin(first, `write ${file}`);
    const waiting = await atRest(first, id);
    assert.equal((await first.ask('POST', `/runs/${id}/answers`, allowAll(waiting))).status, 200);
    await first.end('SIGKILL');
    const second = await serve(t, cwd);
    const run = await atRest(second, id);
    // Killed between the intent and the result, nobody can know: it is said so, and not tried again.
    const lines = existsSync(file) ? readFileSync(file, 'utf8') : '';
    assert.equal(run['status'], 'completed');
    assert.ok(
      lines === 'one\n' || (lines === '' && String(run['answer']).includes('interrupted')),
      `${lines} ${String(run['answer'])}`,
    );
  });

  test('killed in the middle of an action that happens once, it is not run again, and the run ends', async (t) => {
    const cwd = temporaryFolder(t);
    const file = path.join(cwd, 'lines.txt');
    const first = await serve(t, cwd);
    const id = await begin(first, `slowly ${file}`);
    await until(() => (existsSync(file) ? true : undefined));
    await first.end('SIGKILL');
    const second = await serve(t, cwd);
    const run = await atRest(second, id);
    assert.equal(run['status'], 'completed');
    assert.equal(readFileSync(file, 'utf8'), 'begun\n');
    const { body } = await second.ask('GET', `/runs/${id}/events`);
    const action = (body['events'] as { role: string; data: { observation?: { outcome: string } } }[]).find(
      ({ role }) => role === 'action',
    );
    assert.equal(action?.data.observation?.outcome, 'unknown');
  });

  test('killed between creating a run and its reply, it is the same run that the same key gives', async (t) => {
    const cwd = temporaryFolder(t);
    const first = await serve(t, cwd);
    const create = (server: Running) => server.ask('POST', '/runs', { prompt: 'hello' }, { 'idempotency-key': 'one' });
    const made = await create(first);
    await first.end('SIGKILL');
    const second = await serve(t, cwd);
    assert.equal((await create(second)).body['id'], made.body['id']);
    assert.equal(((await second.ask('GET', '/runs')).body['runs'] as unknown[]).length, 1);
  });

  test('a reader goes on at the next server where the first was killed', async (t) => {
    const cwd = temporaryFolder(t);
    const file = path.join(cwd, 'lines.txt');
    const first = await serve(t, cwd);
    const id = await begin(first, `write ${file}`);
    const waiting = await atRest(first, id);
    const reader = await follow(`${first.url}/api/v1/runs/${id}/stream`);
    const seen = await reader.until(({ event, data }) => event === 'entry' && data.includes('"state":"waiting"'));
    await first.end('SIGKILL');
    assert.equal(await reader.next(), undefined);
    const second = await serve(t, cwd);
    const again = await follow(`${second.url}/api/v1/runs/${id}/stream`, { 'last-event-id': seen.at(-1)?.id ?? '' });
    await second.ask('POST', `/runs/${id}/answers`, allowAll(waiting));
    const rest = await again.until(({ event }) => event === 'end');
    const entries = [...seen, ...rest]
      .filter(({ event }) => event === 'entry')
      .map(({ data }) => (JSON.parse(data) as { entry: { id: string; digest: string } }).entry);
    const held = [...new Map(entries.map((one) => [one.id, one.digest]))].sort();
    const { body } = await second.ask('GET', `/runs/${id}/events?limit=100`);
    const whole = (body['events'] as { id: string; digest: string }[]).map((one) => [one.id, one.digest]).sort();
    assert.deepEqual(held, whole);
  });

  test('told to end while an action runs, it waits for its time and hands the run over', async (t) => {
    const cwd = temporaryFolder(t);
    const file = path.join(cwd, 'lines.txt');
    const first = await serve(t, cwd, ['--drain', '200ms']);
    const id = await begin(first, `slowly ${file}`);
    await until(() => (existsSync(file) ? true : undefined));
    assert.equal(await first.end('SIGTERM'), 0);
    const second = await serve(t, cwd);
    assert.equal((await atRest(second, id))['terminal'], true);
    assert.equal(readFileSync(file, 'utf8'), 'begun\n');
  });

  test('told twice, it ends at once', async (t) => {
    const cwd = temporaryFolder(t);
    const file = path.join(cwd, 'lines.txt');
    const server = await serve(t, cwd, ['--drain', '1h']);
    await begin(server, `slowly ${file}`);
    await until(() => (existsSync(file) ? true : undefined));
    let told = '';
    server.child.stderr?.on('data', (chunk: Buffer) => (told += chunk.toString()));
    server.child.kill('SIGTERM');
    await until(() => (told.includes('once more') ? true : undefined));
    assert.equal(await server.end('SIGTERM'), 143);
  });
});
