import { useState, useSyncExternalStore } from 'react';
import { currentKey, onKeyChanged, setKey } from '../api/key.ts';
import { queries } from '../state/queries.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { OperatePage } from './operate-page.tsx';

/** How this tab is let in, and how others are. */
export function Access() {
  const key = useSyncExternalStore(onKeyChanged, currentKey);
  const [text, setText] = useState('');
  return (
    <OperatePage title="Access" about="Who may talk to this server, and as whom.">
      <section className="access">
        <h2>This tab</h2>
        {key === undefined ? (
          <p>
            You are let in without a key, because this server has none and you sit at its machine. The first key that is
            made ends that.
          </p>
        ) : (
          <p>
            Signed in with a key that ends in <code>{key.slice(-4)}</code>. It is forgotten when the tab closes.
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
          <Button type="submit" disabled={text.trim() === ''}>
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
      <section className="access">
        <h2>Others</h2>
        <p>Keys are made where the server runs. Each is shown once and kept as a hash.</p>
        <Command text="treadle keys create --name laptop --scopes read,run,approve" />
        <Command text="treadle keys list" />
        <Command text="treadle keys revoke KEY" />
      </section>
    </OperatePage>
  );
}

function Command({ text }: { readonly text: string }) {
  return (
    <p className="command">
      <code>{text}</code>
      <CopyButton text={text} />
    </p>
  );
}
