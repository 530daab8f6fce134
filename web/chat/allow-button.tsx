import { Menu } from '@base-ui/react/menu';
import { ChevronDown } from 'lucide-react';
import type { OpenRequest } from '../api/types.ts';
import { Button } from '../ui/button.tsx';

type Reach = NonNullable<OpenRequest['allowance']>['scopes'][number];

const WORDS: Readonly<Record<Reach, string>> = {
  conversation: 'Allow for this conversation',
  always: 'Always allow',
};

/** Yes to this one action; and, where it is offered, a yes that reaches further. What that would be a yes to stands beside it. */
export function AllowButton({
  once: words,
  allowance,
  disabled,
  describedBy,
  onAllow,
}: {
  /** What a yes to this one does. */
  readonly once: string;
  readonly allowance: OpenRequest['allowance'];
  readonly disabled: boolean;
  readonly describedBy: string | undefined;
  readonly onAllow: (reach: Reach | undefined) => void;
}) {
  const once = (
    <Button
      look="solid"
      disabled={disabled}
      aria-describedby={describedBy}
      onClick={() => {
        onAllow(undefined);
      }}
    >
      {words}
    </Button>
  );
  if (allowance === undefined || allowance.scopes.length === 0) return once;
  return (
    <span className="split">
      {once}
      <Menu.Root>
        <Menu.Trigger className="button" data-look="solid" disabled={disabled} aria-label="Allow further">
          <ChevronDown size={15} aria-hidden />
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner sideOffset={4} align="start" className="menu-place">
            <Menu.Popup className="menu">
              <p className="menu-about">A yes to {allowance.about}:</p>
              {allowance.scopes.map((reach) => (
                <Menu.Item
                  key={reach}
                  className="menu-item"
                  onClick={() => {
                    onAllow(reach);
                  }}
                >
                  {WORDS[reach]}
                </Menu.Item>
              ))}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
    </span>
  );
}
