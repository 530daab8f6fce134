import { Switch } from '@base-ui/react/switch';
import type { ReactNode } from 'react';
import type { Consequence } from '../api/types.ts';
import { priceInWords } from '../state/price.ts';

export function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="plus-section" aria-label={title}>
      <h3 className="menu-title">{title}</h3>
      {children}
    </section>
  );
}

/** One thing that is on or off, with what it is and what switching it would cost. */
export function Choice({
  name,
  about,
  isOn,
  isPending = false,
  consequence,
  disabled,
  onSwitch,
}: {
  readonly name: string;
  readonly about: string;
  readonly isOn: boolean;
  readonly isPending?: boolean;
  readonly consequence?: Consequence | undefined;
  readonly disabled: boolean;
  readonly onSwitch: (isOn: boolean) => void;
}) {
  return (
    <div className="menu-item choice">
      <span>
        {name} {isPending ? <PendingMark /> : null}
        <small>{about}</small>
      </span>
      <Price consequence={consequence} />
      <OnOff label={name} isOn={isOn} disabled={disabled} onSwitch={onSwitch} />
    </div>
  );
}

export function OnOff({
  label,
  isOn,
  disabled,
  onSwitch,
}: {
  readonly label: string;
  readonly isOn: boolean;
  readonly disabled: boolean;
  readonly onSwitch: (isOn: boolean) => void;
}) {
  return (
    <Switch.Root className="switch" aria-label={label} checked={isOn} disabled={disabled} onCheckedChange={onSwitch}>
      <Switch.Thumb className="switch-thumb" />
    </Switch.Root>
  );
}

/** What a switch would cost now. Nothing where it is free, or where nobody can say. */
export function Price({ consequence }: { readonly consequence: Consequence | undefined }) {
  if (consequence === undefined || consequence.kind === 'free' || consequence.tokens === 0) return null;
  return (
    <span className="price" title={`Rebuilds ${consequence.tokens.toLocaleString()} cached tokens`}>
      {priceInWords([consequence])}
    </span>
  );
}

export function PendingMark() {
  return (
    <span className="tag" data-tone="wait">
      pending
    </span>
  );
}
