// Our MCP client as the conformance suite of the protocol runs one: told a scenario by the environment and a server by
// its last argument. It signs in where that is wanted, calls every tool once, and answers what it is asked.
import process from 'node:process';
import { discoverOAuthServerInfo } from '@modelcontextprotocol/client';
import { createMemoryAccess, ownAccess, signIn, type SignIn } from '../../src/adapters/mcp/oauth.ts';
import { createMcpServer } from '../../src/adapters/mcp/server.ts';
import { openTransport, type TransportOptions } from '../../src/adapters/mcp/transport.ts';
import { systemClock } from '../../src/base/clock.ts';
import { emptyConversation, type Conversation } from '../../src/domain/conversation.ts';
import type { OAuthSettings } from '../../src/domain/mcp.ts';
import { aContext } from '../support/tool-context.ts';
import { aLogger } from './support.ts';

const url = process.argv.at(-1) ?? '';
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const given = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Readonly<Record<string, string>>;
const isGuarded = scenario.startsWith('auth/');
const { client_id, client_secret } = given;
const settings: OAuthSettings = {
  type: 'oauth2',
  ...(client_id === undefined ? {} : { client_id }),
  ...(client_secret === undefined ? {} : { client_secret }),
};

let person: SignIn | undefined;
let oauth: TransportOptions['oauth'];
if (scenario.includes('client-credentials')) {
  const { authorizationServerUrl } = await discoverOAuthServerInfo(url);
  oauth = ownAccess({ ...settings, issuer: authorizationServerUrl });
} else if (isGuarded) {
  let count = 0;
  const newState = (): string => `state-${++count}`;
  person = signIn({
    serverUrl: url,
    settings,
    store: createMemoryAccess(),
    redirectUrl: 'http://localhost:3000/callback',
    newState,
  });
  oauth = person.provider;
}

let now = systemClock.now();
// Time passes between two attempts, so that nobody waits for a server that was down.
const clock = { ...systemClock, now: () => (now += 120_000) };
const service = { transport: 'http' as const, url };
const open = () => openTransport(service, { folder: '.', searchPath: undefined, oauth });
const server = createMcpServer({ id: 'suite', service, open, clock, logger: aLogger([]) });

/** What the person's browser does: goes where it is sent, and comes back with a code. */
async function visit(): Promise<void> {
  const sent = person?.pending();
  if (person === undefined || sent === undefined) return;
  const answer = await fetch(sent, { redirect: 'manual' });
  await person.finish(new URL(answer.headers.get('location') ?? '').searchParams);
}

let listing = await server.listing();
for (let round = 0; listing.status === 'down' && round < 3; round++) {
  await visit();
  listing = await server.listing();
}
if (listing.status === 'down') throw new Error(listing.why);
for (const { own, definition } of listing.listed.tools) {
  const properties = Object.entries((definition.inputSchema['properties'] ?? {}) as Record<string, { type?: string }>);
  const args = Object.fromEntries(
    properties.map(([name, { type }]) => [name, type === 'number' ? 5 : type === 'integer' ? 5 : 'x']),
  );
  const ran = (reply?: string, question = ''): Promise<{ kind: string; question?: string }> => {
    const asked = {
      request: 'q',
      kind: 'input',
      action: 't1-1-1',
      question,
      ...(reply === undefined ? {} : { answer: { text: reply } }),
    };
    const turn = { requests: reply === undefined ? [] : [asked] };
    const conversation = { ...emptyConversation('c1', 'main'), turn } as unknown as Conversation; // as far as a tool looks
    return server.call(definition, args, aContext({ conversation }));
  };
  let result = await ran();
  if (result.kind === 'failure' && person?.pending() !== undefined) {
    await visit();
    result = await ran();
  }
  if (result.kind === 'ask') result = await ran('{}', result.question);
  process.stdout.write(`${own}: ${result.kind}\n`);
}
await server.close();
