import { useQuery } from '@tanstack/react-query';
import { operate } from '../api/operate.ts';

/** Who the person is for this server. */
export function useCaller() {
  return useQuery({ queryKey: ['caller'], queryFn: operate.me, staleTime: 60_000 });
}

/** False until it is known: what only an admin sees comes when it is. */
export function useIsAdmin(): boolean {
  return useCaller().data?.scopes.includes('admin') === true;
}
