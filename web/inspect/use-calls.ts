import { useQuery } from '@tanstack/react-query';
import { operate } from '../api/operate.ts';

const REFRESH_MS = 2_000;

/** The model calls of a run with what was expected, billed and paid; looked at again while the run goes on. */
export function useCalls(id: string, isMoving: boolean) {
  return useQuery({
    queryKey: ['calls', id],
    queryFn: ({ signal }) => operate.calls(id, signal),
    refetchInterval: isMoving ? REFRESH_MS : false,
  });
}
