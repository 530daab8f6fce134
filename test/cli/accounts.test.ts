// Accounts at the command line: those of a server, and those of whoever runs agents in this terminal.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { writeServerFile } from '../../src/platform/hosting/server-file.ts';
import { aFakeServer, type FakeServer } from '../accounts/fake-authorization-server.ts';
import { aServer } from '../http/server.ts';
import { inFolder } from '../support/bundles.ts';
import { inside } from './inside.ts';
import { workplace, type Ran } from './treadle.ts';

interface Place {
  readonly fake: FakeServer;
  readonly bundle: string;
  readonly cwd: string;
  /** The command, with a person who signs in where they are sent. */
  readonly accounts: (args: readonly string[], visit?: (back: URL) => unknown) => Promise<Ran>;
}

async function place(t: Parameters<typeof aFakeServer>[0], run: (place: Place) => Promise<void>): Promise<void> {
  const fake = await aFakeServer(t);
  const slack = { type: 'oauth2', issuer: fake.issuer, client_id: 'app', client_secret: 'shh', scopes: ['chat:write'] };
  const yaml = JSON.stringify({ accounts: { slack: { ...slack, label: 'Slack' } } });
  const cwd = workplace(t);
  await inFolder(yaml, {}, (bundle) =>
    run({
      fake,
      bundle,
      cwd,
      accounts: (args, visit = (back) => fetch(back, { headers: { 'sec-fetch-site': 'cross-site' } })) =>
        inside(['accounts', ...args], {
          cwd,
          env: { TREADLE_DATA: cwd },
          heard(text) {
            const [url] = /http:\S+authorize\S+/.exec(text) ?? [];
            if (url !== undefined) void visit(fake.consent(url));
          },
        }),
    }),
  );
}

test('without a server, accounts of a bundle are connected in the data folder, listed and taken back', async (t) => {
  await place(t, async ({ accounts, bundle, fake, cwd }) => {
    assert.equal((await accounts(['list', '--bundle', bundle])).out, 'slack  Slack  not connected\n');
    const connected = await accounts(['connect', 'slack', '--bundle', bundle, '--port', '0', '--claims', 'files:read']);
    assert.deepEqual(
      [connected.code, connected.err.trim().split('\n').at(-1)],
      [0, 'Slack is connected.'],
      connected.err,
    );
    const { out } = await accounts(['list', '--bundle', bundle]);
    assert.match(out, /^slack {2}Slack {2}connected since 20\d\d-\d\d-\d\d: chat:write, files:read\n$/);
    assert.equal(path.isAbsolute(cwd) && out.includes('tok-'), false);
    assert.equal((await accounts(['disconnect', 'slack', '--bundle', bundle])).code, 0);
    assert.equal(fake.revoked.length, 1);
    assert.match((await accounts(['disconnect', 'slack', '--bundle', bundle])).err, /it was not connected/);
  });
});

test('a person who says no, and an account that nobody declares, are told', async (t) => {
  await place(t, async ({ accounts, bundle }) => {
    const refused = await accounts(['connect', 'slack', '--bundle', bundle, '--port', '0'], (back) => {
      back.searchParams.delete('code');
      back.searchParams.set('error', 'access_denied');
      return fetch(back);
    });
    assert.notEqual(refused.code, 0);
    assert.match(refused.err, /access_denied/);
    assert.match((await accounts(['connect', 'slak', '--bundle', bundle])).err, /slak.*wanted +slack/s);
    assert.match((await accounts(['connect', 'slack', '--bundle', bundle, '--port', 'x'])).err, /--port/);
  });
});

test('on a server, the same; with a key, a stranger’s browser ends nothing, and its address does', async (t) => {
  await place(t, async ({ accounts, bundle, cwd }) => {
    const server = await aServer(t, { bundles: [bundle] });
    writeServerFile(cwd, { url: server.url, pid: process.pid });
    const connected = await accounts(['connect', 'slack', '--json']);
    assert.equal((JSON.parse(connected.out) as { status: string }).status, 'connected', connected.err);
    const key = await server.key({ userId: 'ana' });
    assert.match((await accounts(['list', '--key', key])).out, /not connected/);
    const answers: unknown[] = [];
    const byHand = await accounts(['connect', 'slack', '--key', key], async (back) => {
      answers.push((await fetch(back)).status, (await accounts(['finish', back.href, '--key', key])).code);
    });
    assert.deepEqual([byHand.code, answers], [0, [400, 0]], byHand.err);
    assert.match((await accounts(['finish', 'https://nowhere.example/?code=1'])).err, /ADDRESS/);
    assert.equal((await accounts(['disconnect', 'slack', '--key', key])).code, 0);
    assert.match((await accounts(['list', '--key', key])).out, /not connected/);
  });
});
