import type { ReactNode } from 'react';
import { ApiError } from '../api/http.ts';
import { Button } from './button.tsx';

/** A place with nothing in it yet, or nothing that can be shown: what it is, and what to do. */
export function Notice({
  title,
  children,
  action,
  tone = 'calm',
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
  readonly tone?: 'calm' | 'bad';
}) {
  return (
    <div className="notice" data-tone={tone} role={tone === 'bad' ? 'alert' : undefined}>
      <h2>{title}</h2>
      {children === undefined ? null : <div className="notice-text">{children}</div>}
      {action === undefined ? null : <div className="notice-action">{action}</div>}
    </div>
  );
}

export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const message = error instanceof Error ? error.message : 'Something went wrong.';
  const isUnreachable = error instanceof ApiError && error.status === 0;
  return (
    <Notice
      tone="bad"
      title={isUnreachable ? 'No connection' : 'This did not work'}
      action={
        onRetry === undefined ? undefined : (
          <Button
            onClick={() => {
              onRetry();
            }}
          >
            Try again
          </Button>
        )
      }
    >
      <p>{message}</p>
    </Notice>
  );
}
