import { useMutation } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { setKey } from '../api/key.ts';
import { operate } from '../api/operate.ts';
import type { Caller, MakeKey as Wanted, NewKey, Scope } from '../api/operate-types.ts';
import { queries } from '../state/queries.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Choice } from '../ui/choice.tsx';

const SCOPES: Readonly<Record<Scope, string>> = {
  read: 'look at runs',
  run: 'begin, steer and stop them',
  approve: 'say yes to what they ask',
  admin: 'all of it, for everybody in the tenant',
};
const LIVES = [
  { value: '30', label: 'for 30 days' },
  { value: '90', label: 'for 90 days' },
  { value: '365', label: 'for a year' },
  { value: '', label: 'until it is revoked' },
] as const;

/** Makes a key, and shows it once. */
export function MakeKey({ caller }: { readonly caller: Caller }) {
  const isFirst = caller.isOpen;
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<NewKey>();
  const make = useMutation({
    mutationFn: (wanted: Wanted) => operate.makeKey(wanted),
    onSuccess: async (key) => {
      setMade(key);
      setOpen(false);
      // The first key ends that this tab is let in without one: it goes on with the key that was just made.
      if (isFirst) setKey(key.key);
      await queries.invalidateQueries({ queryKey: ['keys'] });
      await queries.invalidateQueries({ queryKey: ['caller'] });
    },
  });
  return (
    <>
      {made === undefined ? null : (
        <div className="finding new-key" data-tone="good" role="status">
          <p>
            <strong>{made.name}</strong> is made. This is the only time that it is shown: copy it now.
            {currentSentence(isFirst, made)}
          </p>
          <p className="command">
            <code>{made.key}</code>
            <CopyButton text={made.key} label="Copy the key" />
          </p>
          <Button
            look="quiet"
            onClick={() => {
              setMade(undefined);
            }}
          >
            I have it
          </Button>
        </div>
      )}
      {isOpen ? (
        <KeyForm
          isFirst={isFirst}
          userId={caller.userId}
          isBusy={make.isPending}
          problem={make.isError ? make.error.message : undefined}
          onMake={make.mutate}
          onClose={() => {
            setOpen(false);
          }}
        />
      ) : (
        <p>
          <Button
            onClick={() => {
              setOpen(true);
            }}
          >
            Make a key…
          </Button>
        </p>
      )}
    </>
  );
}

function currentSentence(isFirst: boolean, { scopes }: NewKey): string {
  if (!isFirst) return '';
  return scopes.includes('admin')
    ? ' From now on this server wants a key; this tab uses this one.'
    : ' From now on this server wants a key; this tab uses this one, which makes no other keys.';
}

function KeyForm({
  isFirst,
  userId,
  isBusy,
  problem,
  onMake,
  onClose,
}: {
  readonly isFirst: boolean;
  readonly userId: string;
  readonly isBusy: boolean;
  readonly problem: string | undefined;
  readonly onMake: (wanted: Wanted) => void;
  readonly onClose: () => void;
}) {
  const id = useId();
  const [name, setName] = useState('');
  const [user, setUser] = useState('');
  const [life, setLife] = useState<string>('90');
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(
    () => new Set<Scope>(isFirst ? ['read', 'run', 'approve', 'admin'] : ['read', 'run', 'approve']),
  );
  const all = Object.keys(SCOPES) as Scope[]; // the keys of the table
  const missing =
    name.trim() === '' ? 'Give it a name first.' : scopes.size === 0 ? 'Say what it may do first.' : undefined;
  return (
    <form
      className="key-form"
      aria-label="A new key"
      onSubmit={(event) => {
        event.preventDefault();
        onMake({
          name: name.trim(),
          scopes: all.filter((scope) => scopes.has(scope)),
          ...(user.trim() === '' ? {} : { user: user.trim() }),
          ...(life === '' ? {} : { expiresInDays: Number(life) }),
        });
      }}
    >
      {isFirst ? (
        <p className="finding" data-tone="wait">
          This is the first key. Once it is made, nobody is let in without one, you neither; keep “admin” on it, or keys
          can only be made where the server runs.
        </p>
      ) : null}
      <div className="key-fields">
        <label htmlFor={`${id}-name`}>
          Name
          <input
            id={`${id}-name`}
            className="field"
            autoFocus
            maxLength={100}
            placeholder="laptop"
            value={name}
            onChange={(event) => {
              setName(event.target.value);
            }}
          />
        </label>
        <label htmlFor={`${id}-user`}>
          User
          <input
            id={`${id}-user`}
            className="field"
            maxLength={200}
            placeholder={userId}
            value={user}
            onChange={(event) => {
              setUser(event.target.value);
            }}
          />
        </label>
      </div>
      <fieldset>
        <legend>It may</legend>
        {all.map((scope) => (
          <label key={scope} className="check">
            <input
              type="checkbox"
              checked={scopes.has(scope)}
              onChange={({ target: { checked } }) => {
                const next = new Set(scopes);
                if (checked) next.add(scope);
                else next.delete(scope);
                setScopes(next);
              }}
            />
            <span>
              <strong>{scope}</strong> <small>{SCOPES[scope]}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <div className="toolbar">
        <Choice label="How long it lives" value={life} options={LIVES} onChange={setLife} />
        <Button
          type="submit"
          look="solid"
          disabled={isBusy || missing !== undefined}
          aria-describedby={`${id}-missing`}
        >
          {isBusy ? 'Making it…' : 'Make the key'}
        </Button>
        <Button look="quiet" onClick={onClose}>
          Cancel
        </Button>
        <span id={`${id}-missing`} className="toolbar-note" aria-live="polite">
          {missing ?? ''}
        </span>
      </div>
      {problem === undefined ? null : (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
