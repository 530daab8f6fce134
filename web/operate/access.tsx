import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, useSyncExternalStore } from 'react';
import { ApiError } from '../api/http.ts';
import { currentKey, onKeyChanged, setKey } from '../api/key.ts';
import { operate } from '../api/operate.ts';
import type { ApiKey } from '../api/operate-types.ts';
import { ago, now } from '../clock.ts';
import { queries } from '../state/queries.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Failure } from '../ui/notice.tsx';
import { MakeKey } from './make-key.tsx';
import { OperatePage } from './operate-page.tsx';
import { ACCESS } from './sub-nav.tsx';
import { useCaller } from './use-caller.ts';

/** How this tab is let in, and which keys let others in. */
export function Access() {
  const caller = useCaller();
  const isAdmin = caller.data?.scopes.includes('admin') === true;
  return (
    <OperatePage title="Access" about="Who may talk to this server, and as whom." pages={ACCESS}>
      <ThisTab />
      {caller.isError ? <Failure error={caller.error} onRetry={() => void caller.refetch()} /> : null}
      {isAdmin && caller.data !== undefined ? <Keys caller={caller.data} /> : null}
      {caller.isSuccess && !isAdmin ? (
        <section className="access">
          <h2>Keys</h2>
          <p>
            Keys are made and revoked by keys with the scope “admin”, here or where the server runs. Yours may{' '}
            {caller.data.scopes.join(', ')}.
          </p>
          <p className="command">
            <code>{COMMAND}</code>
            <CopyButton text={COMMAND} />
          </p>
        </section>
      ) : null}
    </OperatePage>
  );
}

const COMMAND = 'treadle keys create --name laptop --scopes read,run,approve';

function ThisTab() {
  const key = useSyncExternalStore(onKeyChanged, currentKey);
  const caller = useCaller().data;
  const [text, setText] = useState('');
  return (
    <section className="access">
      <h2>This tab</h2>
      {key === undefined ? (
        <p>
          You are let in without a key, because this server has none and you sit at its machine. The first key that is
          made ends that.
        </p>
      ) : (
        <p>
          Signed in{caller === undefined ? '' : ` as ${caller.userId} of ${caller.tenant}`} with a key that ends in{' '}
          <code>{key.slice(-4)}</code>. It is forgotten when the tab closes.
        </p>
      )}
      <form
        className="access-form"
        onSubmit={(event) => {
          event.preventDefault();
          setKey(text.trim());
          setText('');
          void queries.resetQueries();
        }}
      >
        <input
          className="field"
          type="password"
          autoComplete="off"
          placeholder="sk-…"
          aria-label="API key"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
          }}
        />
        <Button
          type="submit"
          disabled={text.trim() === ''}
          title={text.trim() === '' ? 'Paste a key first' : undefined}
        >
          Use this key
        </Button>
        {key === undefined ? null : (
          <Button
            look="quiet"
            onClick={() => {
              setKey(undefined);
              void queries.resetQueries();
            }}
          >
            Sign out
          </Button>
        )}
      </form>
    </section>
  );
}

function Keys({ caller }: { readonly caller: NonNullable<ReturnType<typeof useCaller>['data']> }) {
  const keys = useQuery({ queryKey: ['keys'], queryFn: operate.keys });
  const [revoking, setRevoking] = useState<ApiKey>();
  const revoke = useMutation({
    mutationFn: (key: ApiKey) => operate.revokeKey(key.id),
    onSettled: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  });
  const all = keys.data ?? [];
  return (
    <section className="access">
      <h2>Keys</h2>
      <MakeKey caller={caller} />
      {keys.isError ? (
        <Failure
          error={keys.error}
          onRetry={() => {
            void keys.refetch();
          }}
        />
      ) : null}
      {keys.isSuccess && all.length === 0 ? (
        <p className="remark">No key yet. Make one before this server is reached from elsewhere.</p>
      ) : null}
      {all.length === 0 ? null : (
        <div className="table-frame" tabIndex={0} role="region" aria-label="Keys">
          <table>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">May</th>
                <th scope="col">User</th>
                <th scope="col">State</th>
                <th scope="col">
                  <span className="visually-hidden">What to do with it</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {all.map((key) => (
                <tr key={key.id} data-gone={key.revokedAt !== undefined}>
                  <th scope="row">
                    {key.name}
                    <small className="cell-more">
                      <code>{key.id}</code>
                    </small>
                  </th>
                  <td>{key.kind === 'compute' ? 'a sandbox: no run' : key.scopes.join(', ')}</td>
                  <td>{key.userId}</td>
                  <td>
                    {stateOf(key)}
                    {key.id === caller.keyId ? <small className="cell-more">this tab uses it</small> : null}
                  </td>
                  <td className="cell-button">
                    {key.revokedAt === undefined ? (
                      <Button
                        look="danger"
                        aria-label={`Revoke ${key.name}`}
                        onClick={() => {
                          setRevoking(key);
                        }}
                      >
                        Revoke…
                      </Button>
                    ) : null}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Confirm
        isOpen={revoking !== undefined}
        title={`Revoke ${revoking?.name ?? ''}?`}
        text={
          revoking?.id === caller.keyId
            ? 'This tab uses it: you will have to sign in with another one.'
            : 'Whoever uses it is refused at once, and for good.'
        }
        action="Revoke"
        onClose={() => {
          setRevoking(undefined);
        }}
        onConfirm={async () => {
          if (revoking === undefined) return;
          await revoke.mutateAsync(revoking);
          if (revoking.id === caller.keyId) await queries.resetQueries();
        }}
      />
    </section>
  );
}

function stateOf({ revokedAt, expiresAt, lastUsedAt }: ApiKey): string {
  if (revokedAt !== undefined) return `revoked ${ago(revokedAt)}`;
  if (expiresAt !== undefined && Date.parse(expiresAt) <= now()) return 'out of date';
  const used = lastUsedAt === undefined ? 'never used' : `used ${ago(lastUsedAt)}`;
  return expiresAt === undefined ? used : `${used}, ends ${ago(expiresAt)}`;
}

/** Somebody without the scope is told so, and nothing is wrong. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403;
}
