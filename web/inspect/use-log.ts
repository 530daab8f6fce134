import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { operate } from '../api/operate.ts';
import type { LoggedFact } from '../api/operate-types.ts';

const REFRESH_MS = 2_000;

export interface WholeLog {
  readonly facts: readonly LoggedFact[];
  /** More is on its way. */
  readonly isReading: boolean;
  readonly error: unknown;
  readonly again: () => void;
}

/** All facts of a run, page after page, and what comes while it goes on. */
export function useLog(id: string, isMoving: boolean): WholeLog {
  const log = useInfiniteQuery({
    queryKey: ['log', id],
    queryFn: ({ pageParam }) => operate.facts(id, pageParam),
    initialPageParam: 0,
    // Also after the last page, which grows: facts that are known never change.
    getNextPageParam: (last, _all, before) => last.facts.at(-1)?.seq ?? before,
    refetchOnWindowFocus: false,
    staleTime: Infinity,
  });
  const { data, isFetching, isError, fetchNextPage } = log;
  const hasMore = data?.pages.at(-1)?.hasMore === true;
  useEffect(() => {
    if (data === undefined || isFetching || isError) return;
    if (hasMore) {
      void fetchNextPage();
      return;
    }
    if (!isMoving) return;
    const timer = setTimeout(() => void fetchNextPage(), REFRESH_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [data, isFetching, isError, hasMore, isMoving, fetchNextPage]);
  // The last words of a run come with its end: what was read before it ended is looked at once more.
  useEffect(() => {
    if (!isMoving) void fetchNextPage();
  }, [isMoving, fetchNextPage]);
  const facts = useMemo(() => data?.pages.flatMap((page) => page.facts) ?? [], [data]);
  return {
    facts,
    isReading: data === undefined || hasMore,
    error: isError ? log.error : undefined,
    again: () => void log.refetch(),
  };
}
