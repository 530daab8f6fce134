import { QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api } from '../api/calls.ts';

/** Lists are asked for anew while somebody looks at them. Milliseconds. */
const REFRESH_MS = 4_000;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // The client has tried again already.
      retry: false,
    },
  },
});

export function useAgents() {
  return useQuery({ queryKey: ['agents'], queryFn: api.agents, staleTime: 60_000 });
}

/** Whether the person's key may say yes. Taken for so until it is known: the server has the last word. */
export function useMayApprove(): boolean {
  const me = useQuery({ queryKey: ['me'], queryFn: api.me, staleTime: 300_000 });
  return me.data === undefined || me.data.scopes.some((one) => one === 'approve' || one === 'admin');
}

export function useRuns(q: string, archived: boolean) {
  return useInfiniteQuery({
    queryKey: ['runs', q, archived],
    queryFn: ({ pageParam }) =>
      api.runs({
        limit: 50,
        ...(q === '' ? {} : { q }),
        ...(archived ? { archived: 'only' } : {}),
        ...(pageParam === undefined ? {} : { cursor: pageParam }),
      }),
    initialPageParam: undefined as string | undefined, // the first page has none
    getNextPageParam: (last) => last.nextCursor,
    refetchInterval: REFRESH_MS,
    placeholderData: (before) => before,
  });
}

/** Runs that wait for a person: in this order they were heard of last. */
const WAITING = 'pending_action_approval,pending_plan_approval,awaiting_user_input,waiting_for_subagents';

/** Everything that waits, page by page, looked at anew as a whole: what was answered elsewhere goes. */
export function useWaiting() {
  return useInfiniteQuery({
    queryKey: ['runs', 'waiting'],
    queryFn: ({ pageParam }) =>
      api.runs({ status: WAITING, limit: 50, ...(pageParam === undefined ? {} : { cursor: pageParam }) }),
    initialPageParam: undefined as string | undefined, // the first page has none
    getNextPageParam: (last) => last.nextCursor,
    refetchInterval: REFRESH_MS,
  });
}

export function useSnapshot(id: string) {
  return useQuery({ queryKey: ['run', id], queryFn: () => api.run(id) });
}

/** Something about runs was changed from here: whoever shows them looks again. */
export function runsChanged(): void {
  void queries.invalidateQueries({ queryKey: ['runs'] });
  void queries.invalidateQueries({ queryKey: ['run'] });
  void queries.invalidateQueries({ queryKey: ['versions'] });
}
