/** A few figures that matter, large enough to be read first. */
export function Figures({
  of,
}: {
  readonly of: readonly { readonly name: string; readonly value: string; readonly more?: string | undefined }[];
}) {
  return (
    <dl className="figures">
      {of.map(({ name, value, more }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            {more === undefined ? null : <small>{more}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
