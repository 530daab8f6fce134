// Our MCP client as the conformance suite of the protocol runs one: told a scenario by the environment and a server by
// its last argument. It signs in where that is wanted, calls every tool once, and answers what it is asked.
import process from 'node:process';
import { discoverOAuthServerInfo } from '@modelcontextprotocol/client';
import { ownAccess } from '../../src/adapters/mcp/oauth.ts';
import { createMcpServer } from '../../src/adapters/mcp/server.ts';
import { openTransport } from '../../src/adapters/mcp/transport.ts';
import { createMemoryAccounts } from '../../src/adapters/stores/control/accounts.ts';
import { systemClock } from '../../src/base/clock.ts';
import { emptyConversation, type Conversation } from '../../src/domain/conversation.ts';
import type { HttpService, OAuthSettings } from '../../src/domain/mcp.ts';
import { createAccounts } from '../../src/platform/accounts/accounts.ts';
import { createPersonalServer } from '../../src/platform/hosting/personal-server.ts';
import { aContext } from '../support/tool-context.ts';
import { aLogger } from './support.ts';

const url = process.argv.at(-1) ?? '';
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const given = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Readonly<Record<string, string>>;
const { client_id, client_secret, private_key_pem, signing_algorithm } = given;
const settings: OAuthSettings = {
  type: 'oauth2',
  ...(client_id === undefined ? {} : { client_id }),
  ...(client_secret === undefined ? {} : { client_secret }),
  ...(private_key_pem === undefined ? {} : { private_key: private_key_pem }),
  ...(signing_algorithm === 'RS256' ? { signing_algorithm } : {}),
};
const service: HttpService = { transport: 'http', url };
const me = { tenant: 'local', userId: 'local' };
const logger = aLogger([]);

let now = systemClock.now();
// Time passes between two attempts, so that nobody waits for a server that was down.
const clock = { ...systemClock, now: () => (now += 1_000) };
const accounts = createAccounts({
  providers: () => ({ suite: { type: 'mcp', label: 'suite', service, settings } }),
  rows: createMemoryAccounts(),
  secrets: ['s'],
  clock,
  logger,
});

/** What the person's browser does: goes where it is sent, and comes back with a code. */
async function signIn(claims: readonly string[] = []): Promise<void> {
  const { url: sent } = await accounts.connect(me, 'suite', {
    claims,
    redirectUrl: 'http://localhost:3000/callback',
    clientDocument: 'https://conformance-test.local/client-metadata.json',
  });
  const answer = await fetch(sent, { redirect: 'manual' });
  await accounts.finish(new URL(answer.headers.get('location') ?? '').searchParams);
}

async function opened() {
  const isPersonal = scenario.startsWith('auth/') && !scenario.includes('client-credentials');
  if (isPersonal) {
    const open = (access: object) => openTransport(service, { folder: '.', searchPath: undefined, ...access });
    const server = createPersonalServer({ id: 'suite', service, account: 'suite', accounts, open, clock, logger });
    await signIn();
    return { ...server, listing: () => server.listing(me) };
  }
  const oauth = scenario.startsWith('auth/')
    ? ownAccess({ ...settings, issuer: (await discoverOAuthServerInfo(url)).authorizationServerUrl })
    : undefined;
  const open = () => openTransport(service, { folder: '.', searchPath: undefined, oauth });
  return createMcpServer({ id: 'suite', service, open, clock, logger });
}

const server = await opened();
const listing = await server.listing();
if (listing.status !== 'up') throw new Error(listing.status === 'down' ? listing.why : listing.status);
for (const { own, definition } of listing.listed.tools) {
  const properties = Object.entries((definition.inputSchema['properties'] ?? {}) as Record<string, { type?: string }>);
  const args = Object.fromEntries(
    properties.map(([name, { type }]) => [name, type === 'number' ? 5 : type === 'integer' ? 5 : 'x']),
  );
  const ran = (reply?: string, question = ''): Promise<{ kind: string; question?: string; value?: unknown }> => {
    const asked = {
      request: 'q',
      kind: 'input',
      action: 't1-1-1',
      question,
      ...(reply === undefined ? {} : { answer: { text: reply } }),
    };
    const turn = { requests: reply === undefined ? [] : [asked] };
    const conversation = { ...emptyConversation('c1', 'main'), turn } as unknown as Conversation; // as far as a tool looks
    return server.call(definition, args, aContext({ conversation, ...me }));
  };
  let result = await ran();
  const { consent } = (result.value ?? {}) as { consent?: { claims: readonly string[] } };
  if (result.kind === 'failure' && consent !== undefined) {
    await signIn(consent.claims);
    result = await ran();
  }
  if (result.kind === 'ask') result = await ran('{}', result.question);
  process.stdout.write(`${own}: ${result.kind}\n`);
}
await server.close();
