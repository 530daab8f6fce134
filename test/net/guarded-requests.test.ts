// Which addresses are asked, whatever a name, a redirect or a record of the DNS says.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { LookupAddress } from 'node:dns';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { isPublicAddress } from '../../src/adapters/net/addresses.ts';
import { createGuardedRequests, GuardRefusal, type GuardOptions } from '../../src/adapters/net/guarded-requests.ts';

const refused = [
  ...['127.0.0.1', '10.1.2.3', '172.16.0.1', '192.168.0.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1'],
  ...['255.255.255.255', '192.0.2.1', '198.18.0.1', '240.0.0.1', '::', '::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1'],
  ...['fec0::1', 'ff02::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::1'],
  ...['::ffff:0:7f00:1', '64:ff9b:1::7f00:1', '64:ff9b::127.0.0.1', '2002:a9fe:a9fe::', '::ffff:a9fe:a9fe', '::7f00:1'],
  ...[
    'fe80::1%eth0',
    '192.88.99.1',
    '192.0.0.1',
    '203.0.113.1',
    '198.51.100.1',
    '100.127.255.255',
    '3fff::1',
    '5f00::1',
  ],
  ...['0177.0.0.1', '0x7f000001', '127.1', '2130706433', '017700000001'],
  ...['2001::1', '2001:db8::1', '100::1', '4000::1', 'not an address'],
];
for (const address of refused) {
  test(`${address} is no public address`, () => assert.equal(isPublicAddress(address), false));
}
for (const address of ['8.8.8.8', '93.184.215.14', '2606:4700:4700::1111']) {
  test(`${address} is a public address`, () => assert.equal(isPublicAddress(address), true));
}

interface Ending {
  after(undo: () => unknown): void;
}

interface Asked {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

async function aServer(t: Ending, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    asked.push({ url: request.url ?? '', headers: request.headers });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, asked };
}

function guarded(t: Ending, options: GuardOptions) {
  const requests = createGuardedRequests(options);
  t.after(() => requests.close());
  return (
    url: string,
    more: { readonly headers?: Record<string, string>; readonly mostBytes?: number; readonly method?: string } = {},
  ) => requests.send({ url: new URL(url), signal: AbortSignal.timeout(5_000), mostBytes: 1_000, ...more });
}

/** A DNS that says what it is told, one list an answer. */
function records(...answers: (readonly string[])[]): NonNullable<GuardOptions['lookup']> {
  return (_, __, done) => {
    const addresses: LookupAddress[] = (answers.shift() ?? []).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));
    done(null, addresses);
  };
}

const private_ = [
  'http://127.0.0.1',
  'http://[::1]/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://169.254.169.254/latest',
  'http://[::ffff:7f00:1]/',
  'http://017700000001/',
  'http://127\u30020\u30020\u30021/',
  'http://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/',
  'http://[64:ff9b::a9fe:a9fe]/',
];
for (const url of private_) {
  test(`${url} is not asked`, async (t) => {
    await assert.rejects(guarded(t, {})(url), GuardRefusal);
  });
}

test('other schemes are not asked', async (t) => {
  await assert.rejects(guarded(t, {})('file:///etc/passwd'), /file: is not asked/);
});

test('a name at a private address is not asked, also when one of several is', async (t) => {
  const send = guarded(t, { lookup: records(['10.0.0.1'], ['93.184.215.14', '127.0.0.1']) });
  await assert.rejects(send('http://inside.example/'), /inside\.example is at a private address/);
  await assert.rejects(send('http://mixed.example/'), /mixed\.example is at a private address/);
});

test('a name that the operator allows is asked at a private address, at its port alone', async (t) => {
  const { port, asked } = await aServer(t, (_, response) => response.end('hi'));
  const lookup = records(['127.0.0.1'], ['127.0.0.1']);
  const send = guarded(t, { allowHosts: [`inside.example:${port}`], lookup });
  assert.equal(new TextDecoder().decode((await send(`http://inside.example:${port}/a`)).bytes), 'hi');
  await assert.rejects(send('http://inside.example:1/'), /another port/);
  assert.equal(asked.length, 1);
});

test('a name is looked up once for a connection: what the DNS says next does not count', async (t) => {
  const { port, asked } = await aServer(t, (_, response) => response.end('hi'));
  let lookups = 0;
  const lookup: GuardOptions['lookup'] = (_, __, done) => {
    lookups++;
    done(null, [{ address: '127.0.0.1', family: 4 }]);
  };
  await guarded(t, { allowHosts: ['inside.example'], lookup })(`http://inside.example:${port}/`);
  assert.deepEqual([lookups, asked.length], [1, 1]);
});

test('B097 a redirect to a private address is not followed', async (t) => {
  const { port, asked } = await aServer(t, (_, response) => {
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
  });
  await assert.rejects(
    guarded(t, { allowHosts: ['localhost'] })(`http://localhost:${port}/`),
    /169\.254\.169\.254 is a private address/,
  );
  assert.equal(asked.length, 1);
});

test('B097 a redirect to another scheme is not followed', async (t) => {
  const { port } = await aServer(t, (_, response) => response.writeHead(301, { location: 'file:///etc/passwd' }).end());
  await assert.rejects(guarded(t, { allowHosts: ['localhost'] })(`http://localhost:${port}/`), /file: is not asked/);
});

test('B097 redirects are followed a few times', async (t) => {
  const { port, asked } = await aServer(t, (_, response) => response.writeHead(302, { location: '/again' }).end());
  await assert.rejects(guarded(t, { allowHosts: ['localhost'] })(`http://localhost:${port}/`), /more than 5 redirects/);
  assert.equal(asked.length, 6);
});

test('B097 another host never sees the secrets of the first', async (t) => {
  const other = await aServer(t, (_, response) => response.end('there'));
  const first = await aServer(t, (_, response) =>
    response.writeHead(302, { location: `http://127.0.0.1:${other.port}/` }).end(),
  );
  const send = guarded(t, { allowHosts: ['localhost', '127.0.0.1'] });
  const headers = { authorization: 'Bearer secret', accept: 'text/plain' };
  await send(`http://localhost:${first.port}/`, { headers });
  assert.equal(first.asked[0]?.headers.authorization, 'Bearer secret');
  assert.deepEqual([other.asked[0]?.headers.authorization, other.asked[0]?.headers.accept], [undefined, 'text/plain']);
});

test('a redirect of something that writes is an answer, and is not followed', async (t) => {
  const { port, asked } = await aServer(t, (_, response) => response.writeHead(307, { location: '/again' }).end());
  const { status } = await guarded(t, { allowHosts: ['localhost'] })(`http://localhost:${port}/`, { method: 'POST' });
  assert.deepEqual([status, asked.length], [307, 1]);
});

test('an answer that is too long is not read to its end', async (t) => {
  const { port } = await aServer(t, (_, response) => response.end('x'.repeat(5_000)));
  await assert.rejects(guarded(t, { allowHosts: ['localhost'] })(`http://localhost:${port}/`), /more than 1000 bytes/);
});
