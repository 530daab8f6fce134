import { z } from 'zod';
import { key, refuse, requiredKey } from './bundle-key.ts';

const text = z.string().min(1);

const bearer = z.strictObject({
  type: requiredKey(z.literal('bearer'), 'A fixed token, sent as `Authorization: Bearer`.'),
  token: requiredKey(text, 'The token, best from a variable such as `${KB_TOKEN}`.'),
});

const header = z.strictObject({
  type: requiredKey(z.enum(['header', 'api_key']), 'A fixed value in a header.'),
  header: key(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/), 'The name of the header.', { default: 'X-API-Key' }),
  value: requiredKey(text, 'Its value, best from a variable.'),
});

const oauth = z
  .strictObject({
    type: requiredKey(z.literal('oauth2'), 'OAuth 2, as the MCP specification has it: discovery, PKCE, refresh.'),
    grant: key(
      z.enum(['authorization_code', 'client_credentials']),
      'Whose rights are used: of each user, who signs in once and has an account `mcp.` and the id of the server, or of this app itself.',
      { default: 'authorization_code' },
    ),
    client_id: key(text, 'The client as the authorization server knows it.', { otherwise: 'registered dynamically' }),
    client_secret: key(text, 'Its secret, best from a variable.'),
    private_key: key(
      text,
      'Instead of a secret, for `client_credentials`: the key as PEM that signs who the app is (RFC 7523), best from a variable.',
    ),
    signing_algorithm: key(z.enum(['RS256', 'PS256', 'ES256', 'EdDSA']), 'How `private_key` signs.', {
      otherwise: '`ES256`',
    }),
    issuer: key(
      z.url({ protocol: /^https?$/ }),
      'The authorization server that the client belongs to: no other one gets its secret.',
    ),
    scopes: key(z.array(text), 'Rights to ask for.', { otherwise: 'what the server asks for' }),
  })
  .superRefine(({ grant, client_id, client_secret, private_key, issuer }, context) => {
    const conflict = (found: string, wanted: string): void =>
      refuse(context, { code: 'bundle_conflict', found, wanted });
    const isProved = (client_secret ?? private_key) !== undefined;
    if (client_secret !== undefined && private_key !== undefined) {
      conflict('a client_secret and a private_key', 'one of them');
    } else if (grant === 'client_credentials' && !(client_id !== undefined && isProved && issuer !== undefined)) {
      const wanted = 'client_id, client_secret or private_key, and issuer';
      conflict('the grant client_credentials without a whole client', wanted);
    } else if (private_key !== undefined && grant !== 'client_credentials') {
      conflict('a private_key without the grant client_credentials', 'that grant, or a client_secret');
    } else if (client_secret !== undefined && issuer === undefined) {
      conflict('a client_secret without an issuer', 'the issuer that it is for');
    }
  });

const auth = z.discriminatedUnion('type', [bearer, header, oauth]).meta({ id: 'mcp_auth' });

const common = {
  ttl_seconds: key(
    z.int().min(0).max(86_400),
    'Seconds after which the list of tools is asked for again at the next turn, although the server announced no change. 0: only when it announces one.',
    { default: 3_600 },
  ),
  connect_timeout_ms: key(
    z.int().min(100).max(120_000),
    'Milliseconds until a server that does not answer counts as down.',
    {
      default: 10_000,
    },
  ),
};

const http = z.strictObject({
  transport: requiredKey(z.enum(['http', 'streamable-http']), 'Streamable HTTP.'),
  url: requiredKey(z.url({ protocol: /^https?$/ }), 'The endpoint.'),
  headers: key(z.record(z.string(), z.string()), 'Further headers of every request.'),
  label: key(text, 'What people call it, where they sign in to it.', { otherwise: 'the id' }),
  auth: key(auth, 'How Treadle shows who it is.', {
    otherwise: 'not at all',
  }),
  ...common,
});

const stdio = z.strictObject({
  transport: requiredKey(z.literal('stdio'), 'A child process that is spoken to over its standard streams.'),
  command: requiredKey(text, 'The program.'),
  args: key(z.array(z.string()), 'Its arguments.'),
  env: key(
    z.record(z.string(), z.string()),
    'Its environment, all of it but `PATH`, which it has from Treadle unless it is set here.',
  ),
  cwd: key(text, 'The folder it starts in.', { otherwise: 'the folder of the bundle' }),
  ...common,
});

/** How one MCP server is reached: `surfaces.as_consumer.mcp.services.<id>`. */
export const mcpService = z.discriminatedUnion('transport', [http, stdio]).meta({ id: 'mcp_service' });
export type McpService = z.infer<typeof mcpService>;
export type HttpService = z.infer<typeof http>;
export type StdioService = z.infer<typeof stdio>;
export type OAuthSettings = z.infer<typeof oauth>;

export const DEFAULT_TTL_SECONDS = 3_600;
export const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
