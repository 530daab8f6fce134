import {
  InsufficientScopeError,
  UnauthorizedError,
  type AuthProvider,
  type FetchLike,
} from '@modelcontextprotocol/client';
import { TreadleError } from '../../base/errors.ts';
import type { AccountStore } from '../../kernel/choices.ts';

/** Whose account a connection is made with. */
export interface AccountOf {
  readonly userId: string;
  readonly tenant: string;
  readonly provider: string;
}

/** One user's access to one server, for its transport. */
export interface Access {
  readonly oauth: AuthProvider;
  readonly fetch: FetchLike;
  /** Tokens that were shown lately. */
  readonly shown: () => readonly string[];
}

const MOST_SHOWN = 4;

/** Shows the account's token with each request, as it is then; one that the server refuses is renewed, once however many ask. */
export function accessBy(accounts: AccountStore, account: AccountOf): Access {
  const shown: string[] = [];
  const refused = new Set<string>();

  async function token(): Promise<string> {
    if (accounts.open === undefined) throw new TreadleError('account_unmet', { place: account.provider });
    const opened = await accounts.open(account);
    if (!shown.includes(opened.token)) shown.push(opened.token);
    if (shown.length > MOST_SHOWN) shown.shift();
    return opened.token;
  }

  return {
    oauth: {
      token,
      async onUnauthorized() {
        const current = await token();
        // A request that was sent before the last renewal tells nothing new.
        if (refused.has(current)) await accounts.renew?.({ ...account, refused: current });
      },
    },
    async fetch(url, init) {
      const response = await fetch(url, init);
      const sent = new Headers(init?.headers).get('authorization')?.replace(/^Bearer /, '');
      if (response.status === 401 && sent !== undefined) {
        refused.add(sent);
        for (const oldest of refused) if (refused.size > MOST_SHOWN) refused.delete(oldest);
      }
      return response;
    },
    shown: () => shown,
  };
}

const DEEPEST = 5;

/** The rights without which a server did not do it: none of them where the account itself is gone. Undefined for other errors. */
export function lackingClaims(error: unknown): readonly string[] | undefined {
  let one = error;
  for (let depth = 0; one instanceof Error && depth < DEEPEST; depth++) {
    if (one instanceof InsufficientScopeError) return one.requiredScope?.split(' ').filter(Boolean) ?? [];
    if (one instanceof UnauthorizedError) return [];
    if (one instanceof TreadleError && one.code === 'account_unmet') return [];
    one = one.cause;
  }
  return undefined;
}
