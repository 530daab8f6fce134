// A service elsewhere that wants its users' own tokens: an OpenAPI server that looks at the bearer of each request.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { aFakeServer } from '../accounts/fake-authorization-server.ts';
import { aServer, type Call, type Served } from '../http/server.ts';
import { inFolder } from '../support/bundles.ts';

interface Desk extends Served {
  /** What the service was asked, and with which token. */
  readonly asked: { readonly path: string; readonly token: string | undefined }[];
  readonly secrets: ReadonlySet<string>;
  /** Connects the caller's account, with all rights or those that are named. */
  readonly connect: (as: string, scope?: string) => Promise<void>;
  readonly run: (as: string) => Promise<{ readonly id: string; readonly snapshot: Record<string, unknown> }>;
  readonly ended: (id: string, as: string) => Promise<Record<string, unknown>>;
  readonly results: (id: string) => Promise<readonly Record<string, unknown>[]>;
}

const document = {
  openapi: '3.1.0',
  info: { title: 'Contacts', version: '1' },
  paths: {
    '/contacts/{id}': {
      get: {
        operationId: 'getContact',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: { 200: { description: 'A contact.' } },
      },
    },
  },
};

async function desk(
  t: Parameters<typeof aServer>[0],
  policy: 'drop' | 'ask',
  act: (desk: Desk) => Promise<void>,
): Promise<void> {
  const fake = await aFakeServer(t);
  const asked: { path: string; token: string | undefined }[] = [];
  const service = createServer((request, response) => {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    asked.push({ path: request.url ?? '', token });
    const isKnown = token !== undefined && fake.secrets.has(token);
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isKnown ? { name: 'Bo' } : { error: 'who are you?' }));
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  t.after(() => service.close());
  const at = `127.0.0.1:${(service.address() as AddressInfo).port}`; // it listens on a port
  const yaml = JSON.stringify({
    config: { react: { main: { claim_policy: policy } } },
    surfaces: {
      as_consumer: {
        agents: { main: { tools: [{ name: 'crm', kind: 'named_service', namespaces: { contact: {} } }] } },
        named_services: {
          contact: {
            kind: 'openapi',
            document: 'contacts.json',
            base_url: `http://${at}`,
            allow_hosts: [at],
            operations: { 'object.get': 'getContact' },
            auth: { type: 'account', provider: 'crm', claims: ['contacts:read'] },
          },
        },
      },
    },
    models: { balanced: { provider: 'scripted', script: 'script.json' } },
    accounts: {
      crm: { type: 'oauth2', issuer: fake.issuer, client_id: 'app', client_secret: 'shh', scopes: ['contacts:read'] },
    },
  });
  const get = { actions: [{ name: 'contact_object_get', arguments: { id: '7' } }] };
  const files = {
    'contacts.json': JSON.stringify(document),
    'script.json': JSON.stringify([get, { text: 'Done.' }]),
  };
  await inFolder(yaml, files, async (file) => {
    const served = await aServer(t, { bundles: [file] });
    const ended = async (id: string, as: string): Promise<Record<string, unknown>> => {
      for (let tries = 0; tries < 600; tries++) {
        const { body } = await served.call('GET', `/api/v1/runs/${id}`, { as });
        if (body['terminal'] === true) return body;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      throw new Error('the run does not end');
    };
    await act({
      ...served,
      asked,
      secrets: fake.secrets,
      async connect(as, scope) {
        const { body, headers } = await served.call('POST', '/api/v1/accounts/crm/connect', { as });
        const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
        const more = scope === undefined ? {} : { scope };
        const reply = await fetch(fake.consent(String(body['authorizationUrl']), more), { headers: { cookie } });
        assert.equal(reply.status, 200);
      },
      async run(as) {
        const call: Call = { as };
        const id = await served.begin('look', call);
        return { id, snapshot: await served.rest(id, call) };
      },
      ended,
      async results(id) {
        const facts = await served.log.read(id, 0, 1_000);
        return facts
          .filter(({ type }) => type === 'tool.result')
          .map(({ payload }) => payload as Record<string, unknown>); // a payload is an object
      },
    });
  });
}

test('each user’s requests carry their own token, and nobody’s without one', async (t) => {
  await desk(t, 'drop', async (one) => {
    const [ana, bo, eve] = [
      await one.key({ userId: 'ana' }),
      await one.key({ userId: 'bo' }),
      await one.key({ userId: 'eve' }),
    ];
    await one.connect(ana);
    await one.connect(bo);
    const [ofAna, ofBo, ofEve] = [await one.run(ana), await one.run(bo), await one.run(eve)];
    const results = await Promise.all([ofAna, ofBo, ofEve].map(({ id }) => one.results(id)));
    assert.deepEqual(
      results.map(([only]) => only?.['outcome']),
      ['ok', 'ok', 'refused'],
    );
    const [one1, two] = one.asked.map(({ token }) => token);
    assert.equal(one.asked.length, 2);
    assert.ok(one1 !== undefined && two !== undefined && one1 !== two);
    assert.ok(one.secrets.has(one1) && one.secrets.has(two));
  });
});

test('drop: what the account does not give leaves the operation out, and says which right it is', async (t) => {
  await desk(t, 'drop', async (one) => {
    const ana = await one.key({ userId: 'ana' });
    await one.connect(ana, 'contacts:list');
    const { id } = await one.run(ana);
    const facts = await one.log.read(id, 0, 1_000);
    assert.deepEqual(facts.find(({ type }) => type === 'account.inactive')?.payload, {
      account: 'crm',
      tools: [{ name: 'contact_object_get', why: 'needs contacts:read in the connected crm account' }],
    });
    assert.deepEqual(one.asked, []);
  });
});

test('ask: the attempt asks, the sign-in answers, and the request goes out with the token that it brought', async (t) => {
  await desk(t, 'ask', async (one) => {
    const ana = await one.key({ userId: 'ana' });
    const { id, snapshot } = await one.run(ana);
    assert.equal(snapshot['status'], 'awaiting_user_input');
    assert.equal(one.asked.length, 0);
    await one.connect(ana);
    assert.equal((await one.ended(id, ana))['status'], 'completed');
    assert.deepEqual(
      (await one.results(id)).map(({ outcome }) => outcome),
      ['ok'],
    );
    assert.equal(one.asked.length, 1);
    assert.ok(one.secrets.has(one.asked[0]?.token ?? ''));
  });
});
