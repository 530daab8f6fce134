// An authorization server as the wire sees one: discovery, codes with PKCE, refresh with rotation, revocation.
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Ending {
  after(undo: () => unknown): void;
}

export interface FakeServer {
  readonly issuer: string;
  /** Every request to the token endpoint, as it was sent. */
  readonly asked: URLSearchParams[];
  readonly revoked: string[];
  /** Tokens that were ever given out. */
  readonly secrets: Set<string>;
  /** A person who is sent there says yes: where they are sent back to. */
  consent(authorizationUrl: string, more?: { readonly scope?: string }): URL;
  /** How the token endpoint answers from now on; undefined: as it should. */
  answer: ((params: URLSearchParams) => { readonly status: number; readonly body: object }) | undefined;
  seconds: number;
}

export async function aFakeServer(t: Ending): Promise<FakeServer> {
  const codes = new Map<string, { challenge: string; redirect: string; scope: string }>();
  const refreshTokens = new Map<string, string>();
  const made = (): string => {
    const secret = `tok-${randomBytes(12).toString('hex')}`;
    fake.secrets.add(secret);
    return secret;
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', fake.issuer);
    const reply = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const params = new URLSearchParams(text);
      if (url.pathname === '/.well-known/oauth-authorization-server') {
        const { issuer } = fake;
        const endpoints = {
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          revocation_endpoint: `${issuer}/revoke`,
        };
        reply(200, { issuer, ...endpoints });
        return;
      }
      if (request.headers.authorization !== `Basic ${Buffer.from('app:shh').toString('base64')}`) {
        reply(401, { error: 'invalid_client' });
        return;
      }
      if (url.pathname === '/revoke') {
        fake.revoked.push(params.get('token') ?? '');
        response.writeHead(200).end();
        return;
      }
      if (url.pathname !== '/token') {
        reply(404, {});
        return;
      }
      fake.asked.push(params);
      if (fake.answer !== undefined) {
        const { status, body } = fake.answer(params);
        reply(status, body);
        return;
      }
      let scope: string | undefined;
      if (params.get('grant_type') === 'authorization_code') {
        const code = codes.get(params.get('code') ?? '');
        codes.delete(params.get('code') ?? '');
        const challenge = createHash('sha256')
          .update(params.get('code_verifier') ?? '')
          .digest('base64url');
        if (code?.challenge !== challenge || code.redirect !== params.get('redirect_uri')) {
          reply(400, { error: 'invalid_grant' });
          return;
        }
        ({ scope } = code);
      } else {
        scope = refreshTokens.get(params.get('refresh_token') ?? '');
        refreshTokens.delete(params.get('refresh_token') ?? '');
        if (scope === undefined) {
          reply(400, { error: 'invalid_grant' });
          return;
        }
      }
      const refresh = made();
      refreshTokens.set(refresh, scope);
      reply(200, {
        access_token: made(),
        token_type: 'Bearer',
        expires_in: fake.seconds,
        refresh_token: refresh,
        scope,
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const fake: FakeServer = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    revoked: [],
    secrets: new Set(),
    answer: undefined,
    seconds: 3_600,
    consent(authorizationUrl, more = {}) {
      const { searchParams } = new URL(authorizationUrl);
      const said = (name: string): string => searchParams.get(name) ?? '';
      if (said('code_challenge_method') !== 'S256' || said('response_type') !== 'code') throw new Error('no PKCE');
      const code = randomBytes(8).toString('hex');
      codes.set(code, {
        challenge: said('code_challenge'),
        redirect: said('redirect_uri'),
        scope: more.scope ?? said('scope'),
      });
      const back = new URL(said('redirect_uri'));
      back.searchParams.set('code', code);
      back.searchParams.set('state', said('state'));
      return back;
    },
  };
  return fake;
}
