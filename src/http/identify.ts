import { permit, type Caller, type Scope } from '../platform/runs/caller.ts';
import type { HttpContext } from './context.ts';
import type { Credentials } from './credentials.ts';
import { Refusal } from './refusal.ts';

/**
 * Who asks, whether they ask too often, and whether they may. Throws `invalid_token`, `rate_limit_exceeded`,
 * `compute_forbidden` and `insufficient_scope`.
 */
export type Identify = (
  context: HttpContext,
  options: { readonly scope?: Scope | undefined; readonly onlyKeys?: boolean | undefined },
) => Promise<Caller>;

export function createIdentify(credentials: Credentials, rate: (caller: string) => void): Identify {
  return async (context, { scope, onlyKeys }) => {
    let caller: Caller;
    try {
      caller = await credentials.callerOf(context.req.header('authorization'), { onlyKeys });
    } catch (problem) {
      // Whoever guesses keys is slowed down by where they sit.
      if (problem instanceof Refusal && problem.status === 401)
        rate(`address ${context.env.incoming.socket.remoteAddress ?? ''}`);
      throw problem;
    }
    context.set('who', callerName(caller));
    rate(callerName(caller));
    if (scope !== undefined) permit(caller, scope);
    return caller;
  };
}

/** A caller as limits and log lines know it. */
export function callerName({ keyId, tenant, userId }: Caller): string {
  return keyId ?? `${tenant}/${userId}`;
}
