import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { operate } from '../api/operate.ts';
import type { Allowance } from '../api/operate-types.ts';
import { ago } from '../clock.ts';
import { queries } from '../state/queries.ts';
import { Button } from '../ui/button.tsx';
import { Failure, Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { OperatePage } from './operate-page.tsx';
import { ACCESS } from './sub-nav.tsx';

/** What the person has allowed for always, and how it is taken back. */
export function Allowances() {
  const allowances = useQuery({ queryKey: ['allowances'], queryFn: operate.allowances });
  const revoke = useMutation({
    mutationFn: (id: string) => operate.revokeAllowance(id),
    onSettled: () => queries.invalidateQueries({ queryKey: ['allowances'] }),
  });
  const all = allowances.data ?? [];
  return (
    <OperatePage
      title="Allowances"
      about="What you have allowed for always. It counts no more once the tool is described otherwise."
      pages={ACCESS}
    >
      {allowances.isError ? (
        <Failure
          error={allowances.error}
          onRetry={() => {
            void allowances.refetch();
          }}
        />
      ) : null}
      {allowances.isPending ? <Skeleton kind="cards" count={3} /> : null}
      {allowances.isSuccess && all.length === 0 ? (
        <Notice title="You are always asked">
          <p>When you answer an approval with “always”, it stands here and can be taken back.</p>
        </Notice>
      ) : null}
      {revoke.isError ? (
        <p className="field-problem" role="alert">
          {revoke.error.message}
        </p>
      ) : null}
      <ul className="account-list">
        {all.map((one) => (
          <AllowanceRow
            key={one.id}
            allowance={one}
            isBusy={revoke.isPending && revoke.variables === one.id}
            onRevoke={() => {
              revoke.mutate(one.id);
            }}
          />
        ))}
      </ul>
    </OperatePage>
  );
}

/** `main` is in every bundle: people know it by the bundle's name. */
function agentInWords(bundle: string, agent: string): string {
  const name = bundle.replace(/@.*$/, '');
  return agent === 'main' ? name : `${agent} of ${name}`;
}

function AllowanceRow({
  allowance: { tool, about, gates, bundle, agent, run, at },
  isBusy,
  onRevoke,
}: {
  readonly allowance: Allowance;
  readonly isBusy: boolean;
  readonly onRevoke: () => void;
}) {
  return (
    <li>
      <header>
        <h2>
          <code>{tool}</code>
        </h2>
        <Button look="danger" disabled={isBusy} aria-label={`Ask me again before ${tool}`} onClick={onRevoke}>
          Ask me again
        </Button>
      </header>
      <p>{about}</p>
      <p>
        Said {ago(at)} in <Link href={`/r/${run}`}>a conversation</Link> with {agentInWords(bundle, agent)} (
        <code>{bundle}</code>). Asks no more: {gates.join(', ')}.
      </p>
    </li>
  );
}
