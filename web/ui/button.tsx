import { Tooltip } from '@base-ui/react/tooltip';
import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: 'plain' | 'solid' | 'quiet' | 'danger' | undefined;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button({ look = 'plain', className = '', type = 'button', ...rest }: ButtonProps) {
  return <button type={type} className={`button ${className}`} data-look={look} {...rest} />;
}

export interface IconButtonProps extends ButtonProps {
  /** What it does, for the tooltip and for who cannot see the icon. */
  readonly label: string;
  readonly children: ReactNode;
}

export function IconButton({ label, look = 'quiet', className = '', ...rest }: IconButtonProps) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger
        delay={500}
        render={<Button look={look} className={`icon-button ${className}`} aria-label={label} {...rest} />}
      />
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6}>
          <Tooltip.Popup className="tooltip">{label}</Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
