import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/calls.ts';
import { queries } from './queries.ts';

/** How often it is looked whether somebody has signed in at the other place. Milliseconds. */
const WATCH_MS = 2_000;

/** The person's accounts elsewhere, and how they are connected. */
export function useAccounts(isWanted: boolean) {
  /** The account that is being connected, and where one signs in. */
  const [signIn, setSignIn] = useState<{ readonly provider: string; readonly url: string | undefined }>();
  const [problem, setProblem] = useState<string>();
  const accounts = useQuery({
    queryKey: ['accounts'],
    queryFn: api.accounts,
    enabled: isWanted,
    retry: false,
    refetchInterval: signIn === undefined ? false : WATCH_MS,
  });
  const awaited = accounts.data?.find((one) => one.provider === signIn?.provider);
  if (signIn !== undefined && awaited?.status === 'connected') setSignIn(undefined);

  const attempt = (work: Promise<void>): void => {
    setProblem(undefined);
    work
      .catch((error: unknown) => {
        setSignIn(undefined);
        setProblem(error instanceof Error ? error.message : 'This did not work.');
      })
      .finally(() => void queries.invalidateQueries({ queryKey: ['accounts'] }));
  };
  return {
    accounts: accounts.data ?? [],
    isPending: accounts.isPending,
    /** Why they cannot be listed. */
    error: accounts.error,
    signIn,
    problem,
    connect: (provider: string, claims?: readonly string[]) => {
      // A window that opens later than the click is held for an advertisement.
      const opened = window.open('', '_blank');
      setSignIn({ provider, url: undefined });
      attempt(
        api.connect(provider, claims).then(
          ({ authorizationUrl }) => {
            setSignIn({ provider, url: authorizationUrl });
            if (opened === null || !isWebAddress(authorizationUrl)) return;
            opened.opener = null;
            opened.location.replace(authorizationUrl);
          },
          (error: unknown) => {
            opened?.close();
            throw error;
          },
        ),
      );
    },
    disconnect: (provider: string) => {
      attempt(api.disconnect(provider));
    },
  };
}

export function isWebAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
