import { Popover } from '@base-ui/react/popover';
import { Collapsible } from '@base-ui/react/collapsible';
import { Radio } from '@base-ui/react/radio';
import { RadioGroup } from '@base-ui/react/radio-group';
import { Switch } from '@base-ui/react/switch';
import { ChevronRight, Lock, Plus } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import type { Capabilities, CapabilityGroup, ChangeSelection, GroupKind } from '../api/types.ts';
import { choiceCount, isOff, switchEntry, switchGroup } from '../state/choices.ts';
import { useChoices } from '../state/use-choices.ts';
import { Button } from '../ui/button.tsx';
import { Failure } from '../ui/notice.tsx';
import { CostlyChangeCard } from './costly-change.tsx';
import '../styles/plus-menu.css';

const TITLES: Readonly<Record<GroupKind, string>> = { tools: 'Tools', mcp: 'MCP servers', named_services: 'Services' };

export interface PlusMenuProps {
  readonly agent: string;
  /** Choices for this conversation alone; for all of the person's when absent. */
  readonly conversation: string | undefined;
}

/** What the agent may use, and on which model, as far as the person may say. Loaded when it is opened first. */
export function PlusMenu({ agent, conversation }: PlusMenuProps) {
  const [isOpen, setOpen] = useState(false);
  const choices = useChoices(agent, conversation, isOpen);
  const { capabilities, costly, problem, isBusy } = choices;
  const { data } = capabilities;
  const count = data === undefined ? 0 : choiceCount(data.selection);
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className="button icon-button" data-look="quiet" aria-label="What the agent may use">
        <Plus size={18} />
        {count + (data?.pending.length ?? 0) === 0 ? null : <span className="choice-mark" aria-hidden />}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner side="top" align="start" sideOffset={8} className="menu-place">
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
                {problem === undefined ? null : (
                  <p className="field-problem" role="alert">
                    {problem}
                  </p>
                )}
                {costly === undefined ? null : (
                  <CostlyChangeCard
                    costly={costly}
                    isBusy={isBusy}
                    onDecide={(decision, isRemembered) => void choices.decide(decision, isRemembered)}
                    onLeave={choices.leave}
                  />
                )}
                {data.pending.length === 0 ? null : (
                  <p className="pending">
                    {data.pending.length === 1 ? 'One change waits' : `${data.pending.length} changes wait`}{' '}
                    {data.pending.some((one) => one.apply === 'when_cold')
                      ? 'until the cache is cold'
                      : 'for the next conversation'}
                    .
                    <Button look="quiet" disabled={isBusy} onClick={() => void choices.dropPending()}>
                      Forget it
                    </Button>
                  </p>
                )}
                <Choices data={data} isBusy={isBusy} onChange={(change) => void choices.change(change)} />
                <p className="plus-scope">
                  {conversation === undefined
                    ? 'Counts for all your conversations with this agent.'
                    : 'Counts for this conversation, from its next turn on.'}
                </p>
              </>
            )}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

interface ChoicesProps {
  readonly data: Capabilities;
  readonly isBusy: boolean;
  readonly onChange: (change: ChangeSelection) => void;
}

function Choices({ data, isBusy, onChange }: ChoicesProps) {
  const kinds = Object.keys(TITLES) as GroupKind[];
  return (
    <>
      {data.supported_models.length < 2 ? null : <Models data={data} isBusy={isBusy} onChange={onChange} />}
      {data.skills.length === 0 ? null : (
        <Section title="Skills">
          {data.skills.map(({ id, name, description }) => (
            <Choice
              key={id}
              name={name}
              about={description}
              isOn={!data.selection.disabled.skills.includes(id)}
              disabled={isBusy}
              onSwitch={(isOn) => {
                onChange({ disabled: { skills: { [id]: !isOn } } });
              }}
            />
          ))}
        </Section>
      )}
      {kinds.map((kind) => {
        const groups = data.groups.filter((one) => one.kind === kind);
        return groups.length === 0 ? null : (
          <Section key={kind} title={TITLES[kind]}>
            {groups.map((group) => (
              <Group key={group.group} group={group} data={data} isBusy={isBusy} onChange={onChange} />
            ))}
          </Section>
        );
      })}
    </>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="plus-section" aria-label={title}>
      <h3 className="menu-title">{title}</h3>
      {children}
    </section>
  );
}

function Models({ data, isBusy, onChange }: ChoicesProps) {
  const { selection, supported_models: models, default_model: configured } = data;
  const current = selection.model ?? configured;
  const keyOf = (one: { provider: string; model: string } | undefined): string =>
    one === undefined ? '' : `${one.provider} ${one.model}`;
  return (
    <Section title="Model">
      <RadioGroup
        aria-label="Model"
        value={keyOf(current)}
        disabled={isBusy}
        onValueChange={(value) => {
          const picked = models.find((one) => keyOf(one) === value);
          const isDefault = keyOf(picked) === keyOf(configured);
          if (picked !== undefined)
            onChange({ model: isDefault ? null : { provider: picked.provider, model: picked.model } });
        }}
      >
        {models.map((one) => (
          <label key={keyOf(one)} className="menu-item">
            <Radio.Root value={keyOf(one)} className="radio">
              <Radio.Indicator className="radio-dot" />
            </Radio.Root>
            {one.label}
            {keyOf(one) === keyOf(configured) ? <small>default</small> : null}
          </label>
        ))}
      </RadioGroup>
    </Section>
  );
}

function Group({ group, data, isBusy, onChange }: ChoicesProps & { readonly group: CapabilityGroup }) {
  const { selection } = data;
  const isWhole = isOff(selection, group);
  const off = group.entries.filter((entry) => isOff(selection, group, entry.own)).length;
  return (
    <Collapsible.Root className="plus-group">
      <div className="menu-item">
        <Collapsible.Trigger className="plus-fold" aria-label={`Tools of ${group.group}`}>
          <ChevronRight size={14} className="fold-mark" aria-hidden />
          {group.group}
          <small>
            {off > 0 && !isWhole
              ? `${group.entries.length - off} of ${group.entries.length}`
              : group.open && group.entries.length === 0
                ? 'not known yet'
                : group.entries.length}
          </small>
        </Collapsible.Trigger>
        {group.locked ? (
          <span className="locked">
            <Lock size={13} aria-hidden /> always on
          </span>
        ) : (
          <OnOff
            label={group.group}
            isOn={!isWhole}
            disabled={isBusy}
            onSwitch={(isOn) => {
              onChange(switchGroup(group, isOn));
            }}
          />
        )}
      </div>
      <Collapsible.Panel className="plus-entries">
        {group.entries.map((entry) => (
          <Choice
            key={entry.own}
            name={entry.own}
            about={entry.unavailable ?? entry.description ?? ''}
            isOn={!isOff(selection, group, entry.own)}
            disabled={isBusy || group.locked || (isWhole && group.open)}
            onSwitch={(isOn) => {
              onChange(switchEntry(selection, group, entry.own, isOn));
            }}
          />
        ))}
      </Collapsible.Panel>
    </Collapsible.Root>
  );
}

function Choice({
  name,
  about,
  isOn,
  disabled,
  onSwitch,
}: {
  readonly name: string;
  readonly about: string;
  readonly isOn: boolean;
  readonly disabled: boolean;
  readonly onSwitch: (isOn: boolean) => void;
}) {
  return (
    <div className="menu-item choice">
      <span>
        {name}
        <small>{about}</small>
      </span>
      <OnOff label={name} isOn={isOn} disabled={disabled} onSwitch={onSwitch} />
    </div>
  );
}

function OnOff({
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
