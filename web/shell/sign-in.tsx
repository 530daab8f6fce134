import { useState } from 'react';
import type { ApiError } from '../api/http.ts';
import { currentKey, setKey } from '../api/key.ts';
import { queries } from '../state/queries.ts';
import { Button } from '../ui/button.tsx';

/** The server wants a key. It stays in this tab and goes nowhere but to this server. */
export function SignIn({ error }: { readonly error: ApiError }) {
  const [text, setText] = useState('');
  return (
    <main className="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setKey(text.trim());
          void queries.resetQueries();
        }}
      >
        <img src="/treadle.svg" alt="" width={44} height={44} />
        <h1>Sign in to Treadle</h1>
        <p>
          This server wants an API key. Its operator makes one with <code>treadle keys create</code>.
        </p>
        <label htmlFor="key">API key</label>
        <input
          id="key"
          type="password"
          autoComplete="off"
          autoFocus
          placeholder="sk-…"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
          }}
        />
        {currentKey() === undefined ? null : (
          <p className="field-problem" role="alert">
            {error.message}
          </p>
        )}
        <Button type="submit" look="solid" disabled={text.trim() === ''}>
          Sign in
        </Button>
        <small>The key is kept in this tab until you close it.</small>
      </form>
    </main>
  );
}
