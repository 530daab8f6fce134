/** Stands where something will be, until it is there. */
export function Skeleton({
  kind,
  count = 6,
}: {
  readonly kind: 'rows' | 'text' | 'cards' | 'picture';
  readonly count?: number;
}) {
  return (
    <div className="loading skeleton" data-kind={kind} role="status" aria-label="Loading…">
      {Array.from({ length: count }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  );
}
