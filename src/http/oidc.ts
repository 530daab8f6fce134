import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { tryParseJson, isObject } from '../base/json.ts';
import { SCOPES, type Scope } from '../kernel/stores.ts';
import type { Caller } from '../platform/runs/caller.ts';
import { Refusal } from './refusal.ts';

export interface OidcOptions {
  /** As in the token's `iss`. Its discovery document says where the keys are, unless `jwks` does. */
  readonly issuer: string;
  /** This server, as in `aud`. */
  readonly audience: string;
  readonly jwks?: string | undefined;
  /** `sub` when absent. */
  readonly userClaim?: string | undefined;
  /** Everybody is of the tenant `local` when absent. */
  readonly tenantClaim?: string | undefined;
  /** What a token may do that names none of our scopes in `scope`; nothing when absent. */
  readonly scopes?: readonly Scope[] | undefined;
}

/** Only those with a public key: with a shared secret, whoever can check a token can make one. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const CLOCKS_APART_S = 30;
const DISCOVERY_MS = 5_000;

export type TokenReader = (token: string) => Promise<Caller>;

/** Reads tokens of one OpenID Connect issuer. Throws `invalid_token` and `identity_unavailable`. */
export function createTokenReader({ issuer, audience, jwks, userClaim = 'sub', ...rest }: OidcOptions): TokenReader {
  let keys: Promise<JWTVerifyGetKey> | undefined;
  const keySource = (): Promise<JWTVerifyGetKey> => {
    keys ??= (jwks === undefined ? discover(issuer) : Promise.resolve(jwks)).then((url) =>
      createRemoteJWKSet(new URL(url)),
    );
    keys.catch(() => (keys = undefined)); // a provider that was away is asked again
    return keys;
  };
  return async (token) => {
    const payload = await verified(token, { issuer, audience, keySource });
    const userId = payload[userClaim];
    const tenant = rest.tenantClaim === undefined ? 'local' : payload[rest.tenantClaim];
    if (typeof userId !== 'string' || userId === '') throw invalid(`no ${userClaim} in the token`);
    if (typeof tenant !== 'string' || tenant === '') throw invalid(`no ${rest.tenantClaim ?? ''} in the token`);
    return { userId, tenant, scopes: scopesOf(payload, rest.scopes ?? []), kind: 'user' };
  };
}

async function verified(
  token: string,
  given: { readonly issuer: string; readonly audience: string; readonly keySource: () => Promise<JWTVerifyGetKey> },
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, await given.keySource(), {
      issuer: given.issuer,
      audience: given.audience,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCKS_APART_S,
      requiredClaims: ['exp'],
    });
    return payload;
  } catch (problem) {
    // A token that is wrong is one thing; a provider that cannot be asked is another.
    const isToken = problem instanceof errors.JOSEError && !(problem instanceof errors.JWKSTimeout);
    if (isToken && problem.code !== 'ERR_JOSE_GENERIC') throw invalid(problem.message);
    throw new Refusal('identity_unavailable', undefined, { cause: problem, retryAfter: 5 });
  }
}

async function discover(issuer: string): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const reply = await fetch(url, { signal: AbortSignal.timeout(DISCOVERY_MS), redirect: 'error' });
  const parsed = tryParseJson(await reply.text());
  const document = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  if (document['issuer'] !== issuer) throw new RangeError(`${url} does not speak for ${issuer}`);
  if (typeof document['jwks_uri'] !== 'string') throw new RangeError(`${url} has no jwks_uri`);
  return document['jwks_uri'];
}

/** Words of `scope` (a text, or a list in `scp`) that are ours, with or without `treadle:` before them. */
function scopesOf(payload: JWTPayload, otherwise: readonly Scope[]): ReadonlySet<Scope> {
  const given = payload['scope'] ?? payload['scp'];
  const words = typeof given === 'string' ? given.split(' ') : Array.isArray(given) ? given.map(String) : [];
  const bare = words.map((word) => word.replace(/^treadle:/, ''));
  const ours = SCOPES.filter((scope) => bare.includes(scope));
  return new Set(ours.length > 0 ? ours : otherwise);
}

function invalid(message: string): Refusal {
  return new Refusal('invalid_token', message);
}
