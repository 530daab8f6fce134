import type { Json } from '../api/types.ts';

/** JSON as people read it: names beside values, long text whole, lists and objects indented. */
export function JsonView({ value }: { readonly value: Json }) {
  if (value === undefined || value === null) return <span className="json-none">nothing</span>;
  if (typeof value !== 'object')
    return <span className={`json-${typeof value}`}>{typeof value === 'string' ? value : JSON.stringify(value)}</span>;
  const items: readonly (readonly [string, Json])[] = Array.isArray(value)
    ? value.map((item, index) => [String(index + 1), item as Json] as const)
    : (Object.entries(value) as [string, Json][]);
  if (items.length === 0)
    return <span className="json-none">{Array.isArray(value) ? 'an empty list' : 'no fields'}</span>;
  return (
    <dl className="json">
      {items.map(([name, item]) => (
        <div key={name} className="json-row">
          <dt>{name}</dt>
          <dd>
            <JsonView value={item} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The same on one line, for a folded card. */
export function jsonInWords(value: Json): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return typeof value === 'string' ? value : JSON.stringify(value);
  if (Array.isArray(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, item]) => `${name}: ${typeof item === 'string' ? item : JSON.stringify(item)}`)
    .join(', ');
}
