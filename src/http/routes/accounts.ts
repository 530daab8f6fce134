import { timingSafeEqual } from 'node:crypto';
import { isoTime } from '../../base/clock.ts';
import { clientMetadata } from '../../adapters/accounts/client-metadata.ts';
import { newSecret } from '../../adapters/stores/control/secret.ts';
import type { Host } from '../../platform/hosting/host.ts';
import { permit, type Caller } from '../../platform/runs/caller.ts';
import type { HttpContext } from '../context.ts';
import type { Handlers } from '../endpoint.ts';
import { Refusal, refusalOf } from '../refusal.ts';
import { API, type accountRoutes } from '../wire.ts';

export interface AccountHandlerOptions {
  readonly accounts: Host['accounts'];
  /** Who sends a request, by what it carries. Rejects where nobody can tell. */
  readonly callerOf: (authorization: string | undefined) => Promise<Caller>;
  readonly publicUrl: string | undefined;
}

/** Where a browser comes back to. */
export const CALLBACK = `${API}/accounts/callback`;
/** Where this server describes itself as a client. */
const CLIENT = `${API}/accounts/client`;
const COOKIE = 'treadle_sign_in';
const COOKIE_SECONDS = 600;

/** Users' accounts. A sandbox has none: what a model runs neither sees nor connects them. */
export function accountHandlers({
  accounts,
  callerOf,
  publicUrl,
}: AccountHandlerOptions): Handlers<typeof accountRoutes> {
  return {
    async listAccounts(_, { caller }) {
      permit(caller, 'read');
      return { body: { accounts: (await accounts.list(caller)).map((one) => ({ ...one, claims: [...one.claims] })) } };
    },
    async connectAccount({ params, body }, { caller, context }) {
      permit(caller, 'run');
      const origin = originOf(context, publicUrl);
      const browser = newSecret();
      // Who is not to be had over https can describe itself to nobody.
      const clientDocument = origin.startsWith('https:') ? `${origin}${CLIENT}` : undefined;
      const request = { claims: body.claims, redirectUrl: `${origin}${CALLBACK}`, clientDocument, browser };
      const { url, until } = await accounts.connect(caller, params.provider, request);
      const secure = origin.startsWith('https:') ? '; Secure' : '';
      const cookie = `${COOKIE}=${browser}; Path=${CALLBACK}; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Lax${secure}`;
      context.header('Set-Cookie', cookie);
      return { body: { authorizationUrl: url.href, expiresAt: isoTime(until) } };
    },
    async endSignIn({ query }, { context }) {
      try {
        await refuseOthers(query['state'] ?? '', context);
        const { account } = await accounts.finish(new URLSearchParams(query));
        return page(`${account.label} is connected`, 'You can close this window.', 200);
      } catch (problem) {
        const refusal = refusalOf(problem);
        return page('The account is not connected', refusal.message, refusal.status);
      }
    },
    describeClient(_, { context }) {
      const origin = originOf(context, publicUrl);
      return { body: { client_id: `${origin}${CLIENT}`, ...clientMetadata(`${origin}${CALLBACK}`) } };
    },
    async disconnectAccount({ params }, { caller }) {
      permit(caller, 'run');
      if (!(await accounts.disconnect(caller, params.provider))) throw new Refusal('not_found');
      return undefined;
    },
  };

  /** Whoever brings an answer has to be who asked, or they would connect somebody else's account to it. */
  async function refuseOthers(state: string, context: HttpContext): Promise<void> {
    const began = accounts.beganBy(state);
    if (began === undefined) throw new Refusal('sign_in_invalid');
    if (began.browser !== undefined && isSame(cookieOf(context), began.browser)) return;
    const caller = await callerOf(context.req.header('authorization')).catch(() => undefined);
    const { tenant, userId } = began.owner;
    if (caller?.kind === 'user' && caller.tenant === tenant && caller.userId === userId) return;
    throw new Refusal('sign_in_invalid', 'This browser did not begin the sign-in. Begin it here.');
  }
}

function originOf(context: HttpContext, publicUrl: string | undefined): string {
  return new URL(publicUrl ?? context.req.url).origin;
}

function cookieOf(context: HttpContext): string {
  const cookies = (context.req.header('cookie') ?? '').split(/; */).map((one) => one.split('='));
  return cookies.find(([name]) => name === COOKIE)?.[1] ?? '';
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function page(title: string, text: string, status: number): Response {
  const html = `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title></head><body><main><h1>${escaped(title)}</h1><p>${escaped(text)}</p></main></body></html>\n`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  };
  return new Response(html, { status, headers });
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
}
