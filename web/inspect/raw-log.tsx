import { useInfiniteQuery } from '@tanstack/react-query';
import { api } from '../api/calls.ts';
import { Button } from '../ui/button.tsx';
import { Failure } from '../ui/notice.tsx';

/** The facts themselves, as they were written. */
export function RawLog({ id }: { readonly id: string }) {
  const log = useInfiniteQuery({
    queryKey: ['log', id],
    queryFn: ({ pageParam }) => api.log(id, pageParam),
    initialPageParam: 0,
    getNextPageParam: (last) => (last.hasMore ? last.facts.at(-1)?.seq : undefined),
  });
  if (log.isError)
    return (
      <Failure
        error={log.error}
        onRetry={() => {
          void log.refetch();
        }}
      />
    );
  const facts = log.data?.pages.flatMap((page) => page.facts) ?? [];
  return (
    <div className="raw-log">
      {facts.map((fact) => (
        <details key={fact.seq} className="section">
          <summary>
            <code>{fact.seq}</code>
            <strong>{fact.type}</strong>
            <span>{new Date(fact.at).toISOString().slice(11, 23)}</span>
            <span>{fact.source ?? ''}</span>
          </summary>
          <pre tabIndex={0}>{JSON.stringify(fact.payload, null, 2)}</pre>
        </details>
      ))}
      {log.hasNextPage ? (
        <Button
          disabled={log.isFetchingNextPage}
          onClick={() => {
            void log.fetchNextPage();
          }}
        >
          More
        </Button>
      ) : null}
    </div>
  );
}
