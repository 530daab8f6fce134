import { useQueries } from '@tanstack/react-query';
import { api } from '../api/calls.ts';
import { ago } from '../clock.ts';
import { useAccounts } from '../state/accounts.ts';
import { useAgents } from '../state/queries.ts';
import { Button } from '../ui/button.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { OperatePage } from './operate-page.tsx';
import { ACCESS } from './sub-nav.tsx';

interface Need {
  readonly agent: string;
  readonly tool: string;
  readonly claims: readonly string[];
}

const STATES = {
  connected: { word: 'connected', tone: 'good' },
  broken: { word: 'has to be connected anew', tone: 'bad' },
  none: { word: 'not connected', tone: 'plain' },
} as const;

/** The person's accounts elsewhere: which tools need them, and how they stand. */
export function Accounts() {
  const { accounts, signIn, problem, isPending, error, connect, disconnect } = useAccounts(true);
  const needs = useNeeds();
  return (
    <OperatePage
      title="Accounts"
      about="Your accounts elsewhere that tools may use in your name. Nobody sees their tokens, not even the agents."
      pages={ACCESS}
    >
      {problem === undefined ? null : (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
      {error === null ? null : <Failure error={error} />}
      {isPending ? <Skeleton kind="cards" count={2} /> : null}
      {!isPending && error === null && accounts.length === 0 ? (
        <Notice title="No account can be connected">
          <p>The bundles that are served declare none under “accounts”.</p>
        </Notice>
      ) : null}
      <ul className="account-list">
        {accounts.map(({ provider, label, status, claims, connectedAt }) => {
          const own = needs.get(provider) ?? [];
          const wanted = [...new Set(own.flatMap((one) => one.claims))];
          const missing = wanted.filter((one) => !claims.includes(one));
          return (
            <li key={provider}>
              <header>
                <h2>{label}</h2>
                <span className="chip" data-tone={STATES[status].tone}>
                  {STATES[status].word}
                </span>
                {status === 'connected' && missing.length === 0 ? null : (
                  <Button
                    look="solid"
                    disabled={signIn?.provider === provider}
                    onClick={() => {
                      connect(provider, wanted);
                    }}
                  >
                    {status === 'connected' ? 'Give more rights' : 'Connect'}
                  </Button>
                )}
                {status === 'none' ? null : (
                  <Button
                    look="danger"
                    onClick={() => {
                      disconnect(provider);
                    }}
                  >
                    Disconnect
                  </Button>
                )}
              </header>
              {signIn?.provider === provider ? (
                <p role="status">
                  Sign in in the window that has opened; this page notices.{' '}
                  {signIn.url === undefined ? null : (
                    <a href={signIn.url} target="_blank" rel="noreferrer">
                      Or open it here
                    </a>
                  )}
                </p>
              ) : null}
              {connectedAt === undefined ? null : (
                <p>
                  Connected {ago(connectedAt)}
                  {claims.length === 0 ? '' : `, with the rights ${claims.join(', ')}`}.
                </p>
              )}
              {status === 'connected' && missing.length > 0 ? (
                <p>Tools want more than it gives: {missing.join(', ')}.</p>
              ) : null}
              {own.length === 0 ? (
                <p>No tool needs it for now.</p>
              ) : (
                <ul className="needs" aria-label={`Tools that need ${label}`}>
                  {own.map((one) => (
                    <li key={`${one.agent} ${one.tool}`} data-met={one.claims.every((claim) => claims.includes(claim))}>
                      <code>{one.tool}</code> of {one.agent} needs {one.claims.join(', ')}
                    </li>
                  ))}
                </ul>
              )}
            </li>
          );
        })}
      </ul>
    </OperatePage>
  );
}

/** By account: every tool of every agent that needs it. */
function useNeeds(): ReadonlyMap<string, readonly Need[]> {
  const agents = useAgents().data ?? [];
  const capabilities = useQueries({
    queries: agents.map(({ name }) => ({
      queryKey: ['capabilities', name, undefined],
      queryFn: () => api.capabilities(name, undefined),
    })),
  });
  const needs = capabilities.flatMap(({ data }, index) =>
    (data?.groups ?? []).flatMap((group) =>
      group.entries.flatMap(({ own, name, needs: need }) =>
        need === undefined
          ? []
          : [{ provider: need.provider, agent: agents[index]?.name ?? '', tool: name ?? own, claims: need.claims }],
      ),
    ),
  );
  return Map.groupBy(needs, (one) => one.provider);
}
