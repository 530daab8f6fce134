import { useQuery } from '@tanstack/react-query';
import { operate } from '../api/operate.ts';
import type { UsageKey } from '../api/operate-types.ts';
import { now } from '../clock.ts';
import { Choice } from '../ui/choice.tsx';
import { Segments } from '../ui/segments.tsx';
import { dayBefore } from './usage-model.ts';
import type { Filters } from './use-filters.ts';

const RANGES = [
  { value: '6', label: '7 days' },
  { value: '29', label: '30 days' },
  { value: '89', label: '90 days' },
  { value: '364', label: 'a year' },
] as const;

/** Which days, and whose: one user, one agent, one model. */
export function UsageFilters({
  filters,
  onChange,
}: {
  readonly filters: Filters;
  readonly onChange: (part: Partial<Filters>) => void;
}) {
  const { from, to } = filters;
  const today = dayBefore(now(), 0);
  const range = RANGES.find(({ value }) => to === today && from === dayBefore(now(), Number(value)))?.value;
  return (
    <div className="toolbar filters" role="group" aria-label="What is shown">
      <Segments
        label="Range"
        value={range}
        options={RANGES}
        onChange={(days) => {
          onChange({ from: dayBefore(now(), Number(days)), to: today });
        }}
      />
      <span className="dates">
        <input
          className="field"
          type="date"
          aria-label="From"
          value={from}
          max={to}
          onChange={({ target: { value } }) => {
            if (value !== '') onChange({ from: value });
          }}
        />
        –
        <input
          className="field"
          type="date"
          aria-label="To"
          value={to}
          min={from}
          max={today}
          onChange={({ target: { value } }) => {
            if (value !== '') onChange({ to: value });
          }}
        />
      </span>
      {(['agent', 'model', 'user'] as const).map((key) => (
        <KeyFilter
          key={key}
          by={key}
          filters={filters}
          onChange={(value) => {
            onChange({ [key]: value });
          }}
        />
      ))}
    </div>
  );
}

function KeyFilter({
  by,
  filters: { from, to, ...filters },
  onChange,
}: {
  readonly by: Exclude<UsageKey, 'day'>;
  readonly filters: Filters;
  readonly onChange: (value: string | undefined) => void;
}) {
  const rows = useQuery({
    queryKey: ['usage', { by, from, to }],
    queryFn: () => operate.usage({ by, from, to }),
    placeholderData: (before) => before,
  });
  const chosen = filters[by];
  const keys = (rows.data ?? []).map((row) => row.key);
  const known = chosen === undefined || keys.includes(chosen) ? keys : [chosen, ...keys];
  return (
    <Choice
      label={`Only one ${by}`}
      value={chosen ?? ''}
      options={[{ value: '', label: `every ${by}` }, ...known.map((key) => ({ value: key, label: key }))]}
      onChange={(value) => {
        onChange(value === '' ? undefined : value);
      }}
    />
  );
}
