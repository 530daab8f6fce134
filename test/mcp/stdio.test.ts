import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { test } from 'node:test';
import { call, fake, offered, withServer } from './support.ts';

const tool = (name: string) => ({ name });

test('B072 all pages of a list are read, in the order of the names', async () => {
  const pages = [
    [tool('f'), tool('e')],
    [tool('d'), tool('c')],
    [tool('b'), tool('a')],
  ];
  await withServer(fake({ pages }), async (server) => {
    assert.deepEqual(await offered(server), ['a', 'b', 'c', 'd', 'e', 'f']);
  });
});

test('B073 a list that comes back to a page it gave before ends there, and the log says so', async () => {
  await withServer(fake({ pages: [[tool('a'), tool('a')]], repeatsCursor: true }), async (server, lines) => {
    assert.deepEqual(await offered(server), ['a']);
    assert.ok(lines.some(({ fields }) => String(fields['oddity']).includes('was read before')));
  });
});

test('a list without end is cut, and the log says so', async () => {
  await withServer(fake({ endless: true }), async (server, lines) => {
    assert.equal((await offered(server)).length, 64);
    assert.ok(lines.some(({ fields }) => String(fields['oddity']).includes('more than 64 pages')));
  });
});

test('a child has the environment it was given, and no more than PATH besides', async () => {
  process.env['TREADLE_TEST_SECRET'] = 'of this process';
  await withServer(fake({}, { env: { GIVEN: 'yes' } }), async (server) => {
    const result = (await call(server, 'environment')) as { content: { text: string }[] };
    const names = Object.keys(JSON.parse(result.content[0]?.text ?? '') as object);
    assert.deepEqual(names.filter((name) => name !== '__CF_USER_TEXT_ENCODING').sort(), ['GIVEN', 'PATH']);
  });
  delete process.env['TREADLE_TEST_SECRET'];
});

test('a server that does not start is down, with the reason of the system', async () => {
  await withServer({ transport: 'stdio', command: 'there-is-no-such-program' }, async (server) => {
    assert.match(String(await offered(server)), /ENOENT/);
  });
});

test('a server that ends at once is down, with its last words', async () => {
  await withServer(fake({ exits: 2, says: 'no licence file' }), async (server) => {
    assert.match(String(await offered(server)), /no licence file/);
  });
});

test('a server that never answers is down after the time that it has', async () => {
  for (const hangs of ['initialize', 'tools/list']) {
    await withServer(fake({ hangs }, { connect_timeout_ms: 700 }), async (server) => {
      assert.match(String(await offered(server)), /no (answer|list of tools) within 700 ms|timed out/i);
    });
  }
});

test('nobody waits for a server that was just down', async () => {
  await withServer(fake({ exits: 2 }), async (server) => {
    await server.listing();
    assert.equal(server.listing() instanceof Promise, false);
  });
});

test('a server that crashes during a call fails that call alone, and is there for the next', async () => {
  await withServer(fake({ pages: [[tool('crash'), tool('echo')]] }), async (server) => {
    await server.listing();
    const crashed = (await call(server, 'crash')) as { code: string; message: string; uncertain: boolean };
    assert.deepEqual([crashed.code, crashed.uncertain], ['connection_lost', true]);
    assert.match(crashed.message, /out of cheese/);
    assert.deepEqual(await offered(server), ['crash', 'echo']);
    assert.deepEqual(await call(server, 'echo', { a: 1 }), {
      kind: 'result',
      content: [{ type: 'text', text: '{"a":1}' }],
    });
  });
});

test('a message of fifty megabytes is not read to its end', async () => {
  await withServer(fake({}), async (server) => {
    const result = (await call(server, 'big', { bytes: 50_000_000 })) as { code: string };
    assert.equal(result.code, 'connection_lost');
    assert.deepEqual(await call(server, 'big', { bytes: 3 }), {
      kind: 'result',
      content: [{ type: 'text', text: 'xxx' }],
    });
  });
});

test('what a server says has failed is a failure with its words', async () => {
  await withServer(fake({}), async (server) => {
    assert.deepEqual(await call(server, 'fail'), {
      kind: 'failure',
      code: 'remote_error',
      message: 'the disk is full',
    });
    const unknown = (await call(server, 'nothing')) as { code: string };
    assert.equal(unknown.code, 'remote_error');
  });
});

test('progress is passed on', async () => {
  const heard: unknown[] = [];
  await withServer(fake({}), async (server) => {
    await call(server, 'progress', {}, { progress: (report) => void heard.push(report) });
  });
  assert.deepEqual(heard, [
    { text: 'step 1', fraction: 0.5 },
    { text: 'step 2', fraction: 1 },
  ]);
});

test('a call that is given up is cancelled at the server, and the next one works', async () => {
  await withServer(fake({}), async (server) => {
    const stop = new AbortController();
    const hanging = call(server, 'hang', {}, { signal: stop.signal });
    await call(server, 'echo');
    stop.abort(new Error('stopped'));
    await assert.rejects(hanging);
    assert.deepEqual(await call(server, 'echo', {}), { kind: 'result', content: [{ type: 'text', text: '{}' }] });
  });
});

test('leaving a server ends it and all that it started', async () => {
  let pid = 0;
  await withServer(fake({}), async (server) => {
    const result = (await call(server, 'spawn')) as { content: { text: string }[] };
    pid = Number(result.content[0]?.text);
    assert.ok(isAlive(pid));
  });
  for (let look = 0; look < 50 && isAlive(pid); look++) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(isAlive(pid), false);
});

/** A process that has ended and that nobody has asked for is not alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const status = `/proc/${pid}/status`;
    return !existsSync(status) || !/^State:\s+Z/m.test(readFileSync(status, 'utf8'));
  } catch {
    return false;
  }
}

test('a change that was announced shows at the next listing, as a diff in the log', async () => {
  const before = [tool('change'), { ...tool('a'), description: 'Does a.' }];
  const later = [tool('change'), { ...tool('a'), description: 'Does b.' }, tool('new')];
  await withServer(fake({ pages: [before], later }), async (server, lines) => {
    assert.deepEqual(await offered(server), ['a', 'change']);
    await call(server, 'change');
    assert.deepEqual(await offered(server), ['a', 'change', 'new']);
    const { added, removed, changed } = lines.at(-1)?.fields ?? {};
    assert.deepEqual({ added, removed, changed }, { added: ['new'], removed: [], changed: ['a'] });
  });
});

test('a list is asked for again when its time is over, also without an announcement', async () => {
  let now = 1_000_000;
  const clock = { now: () => now, after: () => () => undefined };
  const later = [tool('change'), tool('new')];
  await withServer(
    fake({ pages: [[tool('change')]], later, announces: false }, { ttl_seconds: 60 }),
    async (server) => {
      await server.listing();
      await call(server, 'change');
      now += 59_000;
      assert.deepEqual(await offered(server), ['change']);
      now += 2_000;
      assert.deepEqual(await offered(server), ['change', 'new']);
    },
    clock,
  );
});
