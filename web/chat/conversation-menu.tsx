import { Menu } from '@base-ui/react/menu';
import { Check, Ellipsis } from 'lucide-react';
import { useState } from 'react';
import type { Snapshot, WireEntry } from '../api/types.ts';
import { asJson, asMarkdown, fileName } from '../state/transcript.ts';
import { download } from '../ui/download.ts';

/** What can be taken along from a conversation. */
export function ConversationMenu({ run, entries }: { readonly run: Snapshot; readonly entries: readonly WireEntry[] }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <Menu.Root
      onOpenChange={(isOpen) => {
        if (isOpen) setCopied(false);
      }}
    >
      <Menu.Trigger className="button icon-button" data-look="quiet" aria-label="Copy or export the conversation">
        <Ellipsis size={17} />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end" className="menu-place">
          <Menu.Popup className="menu">
            <Menu.Item
              className="menu-item"
              closeOnClick={false}
              onClick={() => {
                void navigator.clipboard.writeText(asMarkdown(run, entries)).then(() => {
                  setCopied(true);
                });
              }}
            >
              {isCopied ? (
                <>
                  Copied <Check size={14} aria-hidden />
                </>
              ) : (
                'Copy as Markdown'
              )}
            </Menu.Item>
            <Menu.Item
              className="menu-item"
              onClick={() => {
                download(fileName(run, 'md'), 'text/markdown', asMarkdown(run, entries));
              }}
            >
              Export as Markdown
            </Menu.Item>
            <Menu.Item
              className="menu-item"
              onClick={() => {
                download(fileName(run, 'json'), 'application/json', asJson(run, entries));
              }}
            >
              Export as JSON
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
