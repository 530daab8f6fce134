import { useState } from 'react';
import type { Decision } from '../api/types.ts';
import { ago } from '../clock.ts';
import { dollars } from '../state/price.ts';
import type { CostlyChange } from '../state/selection-writer.ts';
import { Button } from '../ui/button.tsx';

const CHOICES: Readonly<Record<Decision, string>> = {
  accept: 'Now',
  defer_conversation: 'Next conversation',
  defer_cold: 'When it costs nothing',
};

/** What a change costs, before it is made, and when to make it. */
export function CostlyChangeCard({
  costly: { reply },
  isBusy,
  onDecide,
  onLeave,
}: {
  readonly costly: CostlyChange;
  readonly isBusy: boolean;
  readonly onDecide: (decision: Decision, isRemembered: boolean) => void;
  readonly onLeave: () => void;
}) {
  const [isRemembered, setRemembered] = useState(false);
  const tokens = reply.parts.reduce((sum, { consequence }) => sum + consequence.tokens, 0);
  const costs = reply.parts.map(({ consequence }) => consequence.money?.rebuild);
  const known = costs.filter((one) => one !== undefined);
  const money = known.length === costs.length ? known.reduce((sum, one) => sum + Number(one), 0) : undefined;
  const warmUntil = reply.parts.flatMap(({ consequence }) => consequence.assumes.warmUntil ?? [])[0];
  return (
    <section className="costly" role="group" aria-label="This change costs something">
      <p>
        This rebuilds <strong>{tokens.toLocaleString()}</strong> cached tokens,{' '}
        {money === undefined ? (
          'at a price that is not known'
        ) : (
          <>
            about <strong>{dollars(money)}</strong>
          </>
        )}
        , in one slower turn.
        {warmUntil === undefined ? null : ` It is free ${ago(warmUntil)}, if nothing is said until then.`}
      </p>
      <label className="remember">
        <input
          type="checkbox"
          checked={isRemembered}
          onChange={(event) => {
            setRemembered(event.target.checked);
          }}
        />
        Do the same from now on
      </label>
      <div className="approval-buttons">
        {reply.choices.map((decision) => (
          <Button
            key={decision}
            look={decision === 'accept' ? 'solid' : 'plain'}
            disabled={isBusy}
            onClick={() => {
              onDecide(decision, isRemembered);
            }}
          >
            {CHOICES[decision]}
          </Button>
        ))}
        <Button look="quiet" disabled={isBusy} onClick={onLeave}>
          Leave it
        </Button>
      </div>
    </section>
  );
}
