import { Menu } from '@base-ui/react/menu';
import { Ellipsis } from 'lucide-react';
import { useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api } from '../api/calls.ts';
import type { RunSummary } from '../api/types.ts';
import { ExportItems } from '../chat/export-items.tsx';
import { runsChanged } from '../state/queries.ts';
import { StatusDot } from '../ui/status-dot.tsx';
import { Confirm } from '../ui/confirm.tsx';

/** A conversation in the list: its name, how it stands, and what can be done with it. */
export function RunRow({ run, isOpen }: { readonly run: RunSummary; readonly isOpen: boolean }) {
  const [isRenaming, setRenaming] = useState(false);
  const [isRemoving, setRemoving] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const [path, go] = useLocation();
  const title = run.title === '' ? 'Untitled' : run.title;
  const rename = (next: string): void => {
    setRenaming(false);
    if (next.trim() === '' || next === run.title) return;
    void api.rename(run.id, next.trim()).finally(runsChanged);
  };
  return (
    <li className="run-row" data-open={isOpen}>
      {isRenaming ? (
        <input
          ref={field}
          className="run-rename"
          autoFocus
          defaultValue={run.title}
          aria-label="New name"
          onClick={(event) => {
            event.stopPropagation();
          }}
          onBlur={(event) => {
            rename(event.target.value);
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') rename(event.currentTarget.value);
            if (event.key === 'Escape') setRenaming(false);
          }}
        />
      ) : (
        <Link href={`/r/${run.id}`} className="run-link" aria-current={isOpen ? 'page' : undefined}>
          <StatusDot status={run.status} kind={run.statusKind} />
          <span dir="auto">{title}</span>
        </Link>
      )}
      <Menu.Root>
        <Menu.Trigger
          className="button icon-button run-more"
          data-look="quiet"
          aria-label={`More about ${title}`}
          onClick={(event) => {
            event.stopPropagation();
          }}
        >
          <Ellipsis size={15} />
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner sideOffset={4} align="end" className="menu-place">
            {/* A menu gives the focus back to its button, which would end the renaming that it began. */}
            <Menu.Popup className="menu" finalFocus={() => field.current ?? true}>
              <Menu.Item
                className="menu-item"
                onClick={() => {
                  setRenaming(true);
                }}
              >
                Rename
              </Menu.Item>
              <Menu.Item
                className="menu-item"
                onClick={() => {
                  void api.archive(run.id, run.archivedAt === undefined).finally(runsChanged);
                }}
              >
                {run.archivedAt === undefined ? 'Archive' : 'Bring back'}
              </Menu.Item>
              <ExportItems run={run} />
              <Menu.Item
                className="menu-item"
                data-tone="bad"
                onClick={() => {
                  setRemoving(true);
                }}
              >
                Delete…
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <Confirm
        isOpen={isRemoving}
        title="Delete this conversation?"
        text={`“${title}” and everything in its log will be gone, also for whoever has the link.`}
        action="Delete"
        onClose={() => {
          setRemoving(false);
        }}
        onConfirm={async () => {
          await api.remove(run.id);
          runsChanged();
          if (path.startsWith(`/r/${run.id}`)) go('/');
        }}
      />
    </li>
  );
}
