import { Collapsible } from '@base-ui/react/collapsible';
import { Radio } from '@base-ui/react/radio';
import { RadioGroup } from '@base-ui/react/radio-group';
import { ChevronRight, Lock } from 'lucide-react';
import { VList } from 'virtua';
import type { Capabilities, CapabilityGroup, ChangeSelection, GroupKind } from '../api/types.ts';
import { hiddenBecause, isOff, isPending, priceOf, switchEntry, switchGroup } from '../state/choices.ts';
import { Choice, OnOff, PendingMark, Price, Section } from './choice-parts.tsx';

const TITLES: Readonly<Record<GroupKind, string>> = { tools: 'Tools', mcp: 'MCP servers', named_services: 'Services' };

export interface ChoiceListProps {
  readonly data: Capabilities;
  /** Only what has these words, in lower case, is shown. */
  readonly filter: string;
  /** Nothing can be changed just now. */
  readonly isFixed: boolean;
  readonly onChange: (change: ChangeSelection) => void;
}

/** Everything that can be picked or switched, section by section. */
export function ChoiceList({ data, filter, isFixed, onChange }: ChoiceListProps) {
  const kinds = Object.keys(TITLES) as GroupKind[]; // its own keys
  const skills = data.skills.filter((one) => has(filter, one.name, one.description));
  const isNothing = skills.length === 0 && data.groups.every((one) => matching(one, filter).length === 0);
  return (
    <>
      {data.supported_models.length < 2 || filter !== '' ? null : (
        <Models data={data} isFixed={isFixed} onChange={onChange} />
      )}
      {filter !== '' && isNothing ? <p className="plus-scope">Nothing is called that.</p> : null}
      {skills.length === 0 ? null : (
        <Section title="Skills">
          {skills.map((skill) => (
            <Skill key={skill.id} skill={skill} data={data} isFixed={isFixed} onChange={onChange} />
          ))}
        </Section>
      )}
      {kinds.map((kind) => {
        const groups = data.groups.filter(
          (one) => one.kind === kind && (filter === '' || matching(one, filter).length > 0),
        );
        return groups.length === 0 ? null : (
          <Section key={kind} title={TITLES[kind]}>
            {groups.map((group) => (
              <Group
                key={`${group.group} ${filter === '' ? '' : 'found'}`}
                group={group}
                data={data}
                filter={filter}
                isFixed={isFixed}
                onChange={onChange}
              />
            ))}
          </Section>
        );
      })}
    </>
  );
}

function Models({ data, isFixed, onChange }: Omit<ChoiceListProps, 'filter'>) {
  const { supported_models: models, default_model: configured, selection } = data;
  const current = selection.model ?? configured;
  const keyOf = (one: { provider: string; model: string } | undefined): string =>
    one === undefined ? '' : `${one.provider}/${one.model}`;
  return (
    <Section title="Model">
      <RadioGroup
        aria-label="Model"
        value={keyOf(current)}
        disabled={isFixed}
        onValueChange={(key) => {
          const picked = models.find((one) => keyOf(one) === key);
          const isDefault = keyOf(picked) === keyOf(configured);
          if (picked !== undefined)
            onChange({ model: isDefault ? null : { provider: picked.provider, model: picked.model } });
        }}
      >
        {models.map((one) => {
          const { provider, model } = one;
          const isCurrent = keyOf(one) === keyOf(current);
          return (
            <label key={keyOf(one)} className="menu-item">
              <Radio.Root value={keyOf(one)} className="radio">
                <Radio.Indicator className="radio-dot" />
              </Radio.Root>
              {one.label}
              {keyOf(one) === keyOf(configured) ? <span className="tag">default</span> : null}
              {isCurrent ? null : <Price consequence={priceOf(data, { model: { provider, model } })} />}
            </label>
          );
        })}
      </RadioGroup>
    </Section>
  );
}

function Skill({
  skill: { id, name, description, requires },
  data,
  isFixed,
  onChange,
}: Omit<ChoiceListProps, 'filter'> & { readonly skill: Capabilities['skills'][number] }) {
  const isOn = !data.selection.disabled.skills.includes(id);
  const change = { disabled: { skills: { [id]: isOn } } };
  const missing = isOn ? hiddenBecause(data, requires) : undefined;
  return (
    <Choice
      name={name}
      about={missing === undefined ? description : `Hidden, because it needs ${missing}, which is off.`}
      isOn={isOn}
      isPending={isPending(data, change)}
      consequence={priceOf(data, change)}
      disabled={isFixed}
      onSwitch={() => {
        onChange(change);
      }}
    />
  );
}

/** So many entries of a group are drawn as they are; of more, those in sight. */
const DRAWN = 40;

function Group({ group, data, filter, isFixed, onChange }: ChoiceListProps & { readonly group: CapabilityGroup }) {
  const { selection } = data;
  const isWhole = isOff(selection, group);
  const off = group.entries.filter((entry) => isOff(selection, group, entry.own)).length;
  const entries = matching(group, filter);
  const rows = entries.map((entry) => (
    <Choice
      key={entry.own}
      name={entry.own}
      about={entry.unavailable ?? entry.description ?? ''}
      isOn={!isOff(selection, group, entry.own)}
      disabled={isFixed || group.locked || (isWhole && group.open)}
      onSwitch={(isOn) => {
        onChange(switchEntry(selection, group, entry.own, isOn));
      }}
    />
  ));
  return (
    <Collapsible.Root className="plus-group" defaultOpen={filter !== ''}>
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
          {isPending(data, switchGroup(group, isWhole)) ? <PendingMark /> : null}
        </Collapsible.Trigger>
        {group.locked ? (
          <span className="locked">
            <Lock size={13} aria-hidden /> always on
          </span>
        ) : (
          <>
            <Price consequence={priceOf(data, switchGroup(group, isWhole))} />
            <OnOff
              label={group.group}
              isOn={!isWhole}
              disabled={isFixed}
              onSwitch={(isOn) => {
                onChange(switchGroup(group, isOn));
              }}
            />
          </>
        )}
      </div>
      <Collapsible.Panel className="plus-entries">
        {rows.length > DRAWN ? (
          <div className="plus-many">
            <VList>{rows}</VList>
          </div>
        ) : (
          rows
        )}
      </Collapsible.Panel>
    </Collapsible.Root>
  );
}

function matching(group: CapabilityGroup, filter: string): CapabilityGroup['entries'] {
  if (filter === '' || has(filter, group.group)) return group.entries;
  return group.entries.filter((entry) => has(filter, entry.own, entry.description));
}

function has(filter: string, ...texts: readonly (string | undefined)[]): boolean {
  return filter === '' || texts.some((text) => text?.toLowerCase().includes(filter) === true);
}
