import { Popover } from '@base-ui/react/popover';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { Choosing } from '../state/use-choices.ts';
import { choiceCount } from '../state/choices.ts';
import { Button } from '../ui/button.tsx';
import { Failure } from '../ui/notice.tsx';
import { AccountsSection } from './accounts-section.tsx';
import { ChoiceList } from './choice-list.tsx';
import { CostlyChangeCard } from './costly-change.tsx';
import '../styles/plus-menu.css';

export interface PlusMenuProps {
  readonly choosing: Choosing;
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
  /** The choices count for one conversation alone; for all of the person's otherwise. */
  readonly isOwn: boolean;
}

/** More rows than these are searched, not read. */
const MANY = 12;

/** What the agent may use, and on which model, as far as the person may say. Loaded when it is opened first. */
export function PlusMenu({ choosing, isOpen, onOpen, isOwn }: PlusMenuProps) {
  const { data, capabilities, costly, problem, isBusy, writer } = choosing;
  const [filter, setFilter] = useState('');
  const chosen = data === undefined ? 0 : choiceCount(data.selection);
  const waiting = data?.pending.length ?? 0;
  const rows =
    data === undefined ? 0 : data.skills.length + data.groups.reduce((sum, one) => sum + one.entries.length, 0);
  return (
    <Popover.Root open={isOpen} onOpenChange={onOpen}>
      <Popover.Trigger
        className="button icon-button"
        data-look="quiet"
        aria-label={`What the agent may use${waiting === 0 ? '' : `, ${waiting} pending`}`}
      >
        <Plus size={18} />
        {waiting > 0 ? (
          <span className="choice-count" aria-hidden>
            {waiting}
          </span>
        ) : chosen > 0 ? (
          <span className="choice-mark" aria-hidden />
        ) : null}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner side="top" align="start" sideOffset={8} collisionPadding={12} className="menu-place">
          <Popover.Popup className="menu plus-menu" aria-busy={isBusy}>
            <Popover.Title className="visually-hidden">What the agent may use</Popover.Title>
            {capabilities.isError ? (
              <Failure
                error={capabilities.error}
                onRetry={() => {
                  void capabilities.refetch();
                }}
              />
            ) : null}
            {capabilities.isPending && isOpen ? <p className="loading">Loading…</p> : null}
            {data === undefined ? null : (
              <>
                <div className="plus-top">
                  {rows > MANY ? (
                    <input
                      type="search"
                      className="field plus-filter"
                      aria-label="Find a tool or skill"
                      placeholder={`Find among ${rows}`}
                      value={filter}
                      onChange={(event) => {
                        setFilter(event.target.value);
                      }}
                    />
                  ) : null}
                  {problem === undefined ? null : (
                    <p className="field-problem" role="alert">
                      {problem}
                    </p>
                  )}
                  {costly === undefined ? null : (
                    <CostlyChangeCard
                      costly={costly}
                      isBusy={isBusy}
                      onDecide={(decision, isRemembered) => void writer.decide(decision, isRemembered)}
                      onLeave={() => {
                        writer.leave();
                      }}
                    />
                  )}
                  {waiting === 0 ? null : (
                    <p className="pending">
                      <span>
                        {waiting === 1 ? 'One change waits' : `${waiting} changes wait`}{' '}
                        {data.pending.some((one) => one.apply === 'when_cold')
                          ? 'until it costs nothing'
                          : 'for the next conversation'}
                        .
                      </span>
                      <Button look="quiet" disabled={isBusy} onClick={() => void writer.dropPending()}>
                        Forget
                      </Button>
                    </p>
                  )}
                </div>
                <ChoiceList
                  data={data}
                  filter={filter.trim().toLowerCase()}
                  isFixed={costly !== undefined}
                  onChange={(change) => {
                    writer.change(change);
                  }}
                />
                {filter === '' ? <AccountsSection isWanted={isOpen} /> : null}
                <p className="plus-scope">
                  {isOwn
                    ? 'Counts for this conversation, from its next turn on.'
                    : 'Counts for all your conversations with this agent.'}
                </p>
              </>
            )}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
