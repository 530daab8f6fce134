import { Select } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';

/** One of a few, from a list that opens. */
export function Choice<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly onChange: (value: T) => void;
}) {
  return (
    <Select.Root
      items={options}
      value={value}
      onValueChange={(next: T | null) => {
        if (next !== null) onChange(next);
      }}
    >
      <Select.Trigger className="button choice" aria-label={label}>
        <Select.Value /> <ChevronsUpDown size={14} aria-hidden />
      </Select.Trigger>
      <Select.Portal>
        <Select.Positioner sideOffset={6} className="menu-place" alignItemWithTrigger={false}>
          <Select.Popup className="menu">
            {options.map((one) => (
              <Select.Item key={one.value} value={one.value} className="menu-item">
                <Select.ItemText>{one.label}</Select.ItemText>
                <Select.ItemIndicator>
                  <Check size={14} />
                </Select.ItemIndicator>
              </Select.Item>
            ))}
          </Select.Popup>
        </Select.Positioner>
      </Select.Portal>
    </Select.Root>
  );
}
