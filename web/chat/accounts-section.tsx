import type { Account } from '../api/types.ts';
import { ago } from '../clock.ts';
import { useAccounts } from '../state/accounts.ts';
import { Button } from '../ui/button.tsx';
import { Section } from './choice-parts.tsx';
import { SignInLink } from './sign-in-link.tsx';

/** The person's accounts elsewhere that tools may use. Nothing where the bundle names none. */
export function AccountsSection({ isWanted }: { readonly isWanted: boolean }) {
  const { accounts, signIn, problem, connect, disconnect } = useAccounts(isWanted);
  if (accounts.length === 0) return null;
  return (
    <Section title="Accounts">
      {accounts.map((account) => (
        <div key={account.provider} className="menu-item choice">
          <span>
            {account.label}
            <small>{stateOf(account)}</small>
          </span>
          {account.status === 'connected' ? (
            <Button
              look="quiet"
              aria-label={`Disconnect ${account.label}`}
              onClick={() => {
                disconnect(account.provider);
              }}
            >
              Disconnect
            </Button>
          ) : (
            <Button
              aria-label={`Connect ${account.label}`}
              disabled={signIn !== undefined && signIn.url === undefined}
              onClick={() => {
                connect(account.provider);
              }}
            >
              {account.status === 'broken' ? 'Connect anew' : 'Connect'}
            </Button>
          )}
        </div>
      ))}
      {signIn?.url === undefined ? null : <SignInLink url={signIn.url} />}
      {problem === undefined ? null : (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
    </Section>
  );
}

function stateOf({ status, connectedAt, claims }: Account): string {
  switch (status) {
    case 'none':
      return 'Not connected';
    case 'broken':
      return 'Its sign-in no longer counts';
    case 'connected':
      return [
        `Connected${connectedAt === undefined ? '' : ` ${ago(connectedAt)}`}`,
        ...(claims.length === 0 ? [] : [claims.join(', ')]),
      ].join(' · ');
  }
}
