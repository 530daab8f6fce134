import { Menu } from '@base-ui/react/menu';
import { Ellipsis } from 'lucide-react';
import type { Snapshot } from '../api/types.ts';
import { ExportItems } from './export-items.tsx';

/** What can be taken along from a conversation. */
export function ConversationMenu({ run }: { readonly run: Snapshot }) {
  return (
    <Menu.Root>
      <Menu.Trigger className="button icon-button" data-look="quiet" aria-label="Copy or export the conversation">
        <Ellipsis size={17} />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end" className="menu-place">
          <Menu.Popup className="menu">
            <ExportItems run={run} />
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
