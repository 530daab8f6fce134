import { Plug } from 'lucide-react';
import { useState } from 'react';
import type { OpenRequest, RunAnswer } from '../api/types.ts';
import { useAccounts } from '../state/accounts.ts';
import { Button } from '../ui/button.tsx';
import { SignInLink } from './sign-in-link.tsx';

/** An action needs an account of the person's. Once it is connected the run goes on by itself. */
export function ConsentCard({
  request: { id, digest, run, question, consent },
  onAnswer,
}: {
  readonly request: OpenRequest;
  readonly onAnswer: (answer: RunAnswer) => Promise<void>;
}) {
  const { signIn, problem, connect } = useAccounts(true);
  const [refusal, setRefusal] = useState<string>();
  if (consent === undefined) return null;
  return (
    <section className="approval question" aria-labelledby={`ask-${id}`}>
      <header>
        <Plug size={18} aria-hidden />
        <h3 id={`ask-${id}`}>{question}</h3>
      </header>
      {consent.claims.length === 0 ? null : (
        <div>
          <p className="remark">It would be given these rights:</p>
          <ul className="claims">
            {consent.claims.map((claim) => (
              <li key={claim}>
                <code>{claim}</code>
              </li>
            ))}
          </ul>
        </div>
      )}
      <div className="approval-buttons">
        <Button
          look="solid"
          onClick={() => {
            connect(consent.account, consent.claims);
          }}
        >
          Connect {consent.account}
        </Button>
        <Button
          onClick={() => {
            onAnswer({ request: id, digest, run, decision: 'reject' }).catch((error: unknown) => {
              setRefusal(error instanceof Error ? error.message : 'The answer was not taken.');
            });
          }}
        >
          Go on without
        </Button>
      </div>
      {signIn?.url === undefined ? null : <SignInLink url={signIn.url} />}
      {problem === undefined && refusal === undefined ? null : (
        <p className="field-problem" role="alert">
          {problem ?? refusal}
        </p>
      )}
    </section>
  );
}
