import { Select } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';
import { useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { api } from '../api/calls.ts';
import type { Agent } from '../api/types.ts';
import { newKey } from '../ids.ts';
import { runsChanged, useAgents } from '../state/queries.ts';
import { Failure } from '../ui/notice.tsx';
import { Composer, type ComposerProps } from './composer.tsx';
import { FirstSteps } from './first-steps.tsx';
import { useChoices } from '../state/use-choices.ts';
import { PlusMenu } from './plus-menu.tsx';
import { settled } from './settled.ts';

/** The page before there is a conversation: which agent, and the first words. */
export function NewChat() {
  const agents = useAgents();
  const [search] = useSearchParams();
  const [chosen, setChosen] = useState(search.get('agent') ?? undefined);
  const [problem, setProblem] = useState<unknown>();
  const [, go] = useLocation();
  const all = agents.data ?? [];
  const agent = all.find((one) => one.name === chosen) ?? all.find((one) => one.isDefault) ?? all[0];
  const [isMenuOpen, setMenuOpen] = useState(false);
  const choosing = useChoices(agent?.name, undefined, isMenuOpen);
  const begin: ComposerProps['onSend'] = async (message) => {
    await settled(choosing, setMenuOpen);
    const run = await api.start(agent?.name, message);
    runsChanged();
    go(`/r/${run.id}`);
  };
  if (agents.isError)
    return (
      <Failure
        error={agents.error}
        onRetry={() => {
          void agents.refetch();
        }}
      />
    );
  return (
    <section className="new-chat" aria-label="New conversation">
      <div className="new-chat-middle">
        {problem === undefined ? null : <Failure error={problem} />}
        <h1>What shall {agent === undefined ? 'the agent' : shortName(agent.name)} do?</h1>
        {agent?.description === undefined ? null : <p className="new-chat-about">{agent.description}</p>}
        <Composer
          id="new"
          isWorking={false}
          placeholder="Say something"
          disabled={agent === undefined}
          onSend={begin}
          menu={
            <>
              {agent === undefined ? null : (
                <PlusMenu choosing={choosing} isOpen={isMenuOpen} onOpen={setMenuOpen} isOwn={false} />
              )}
              {all.length < 2 || agent === undefined ? null : (
                <AgentChoice agents={all} value={agent.name} onChange={setChosen} />
              )}
            </>
          }
        />
        <FirstSteps
          agent={agent}
          onPick={(text) => {
            begin({ text, key: newKey() }, 'followup').catch(setProblem);
          }}
        />
      </div>
    </section>
  );
}

function AgentChoice({
  agents,
  value,
  onChange,
}: {
  readonly agents: readonly Agent[];
  readonly value: string;
  readonly onChange: (name: string) => void;
}) {
  return (
    <Select.Root
      value={value}
      onValueChange={(name) => {
        if (name !== null) onChange(name);
      }}
    >
      <Select.Trigger className="button" data-look="quiet" aria-label="Agent">
        <Select.Value /> <ChevronsUpDown size={14} aria-hidden />
      </Select.Trigger>
      <Select.Portal>
        <Select.Positioner sideOffset={6} className="menu-place">
          <Select.Popup className="menu">
            {agents.map((one) => (
              <Select.Item key={one.name} value={one.name} className="menu-item">
                <Select.ItemText>{one.name}</Select.ItemText>
                <small>{one.bundle}</small>
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

/** `exposure:main` is the main agent of `exposure`: people say `exposure`. */
function shortName(name: string): string {
  return name === 'main' ? 'the agent' : name.replace(/:main$/, '');
}
