import { Collapsible } from '@base-ui/react/collapsible';
import { ChevronRight } from 'lucide-react';
import { Link } from 'wouter';
import { useAgents } from '../state/queries.ts';
import { Failure, Notice } from '../ui/notice.tsx';
import { AgentDetails } from './agent-details.tsx';
import { OperatePage } from './operate-page.tsx';

/** What this server serves. */
export function Agents() {
  const agents = useAgents();
  return (
    <OperatePage title="Agents" about="As their bundles declare them.">
      {agents.isError ? (
        <Failure
          error={agents.error}
          onRetry={() => {
            void agents.refetch();
          }}
        />
      ) : null}
      {agents.isSuccess && agents.data.length === 0 ? <Notice title="No agent is served" /> : null}
      <ul className="agent-list">
        {agents.data?.map((agent) => (
          <li key={agent.name}>
            <h2>{agent.name}</h2>
            <p>{agent.description ?? 'Its bundle says nothing more of it.'}</p>
            <Collapsible.Root>
              <Collapsible.Trigger className="folded-head">
                <ChevronRight size={15} className="fold-mark" aria-hidden /> What it may use
              </Collapsible.Trigger>
              <Collapsible.Panel>
                <AgentDetails agent={agent.name} />
              </Collapsible.Panel>
            </Collapsible.Root>
            <footer>
              <code>{agent.bundle}</code>
              {agent.model === undefined ? null : (
                <span>{agent.model.why === 'scripted' ? 'a script answers' : agent.model.model}</span>
              )}
              {agent.isDefault ? <span>answers when nobody is named</span> : null}
              <Link className="button" href={`/?agent=${encodeURIComponent(agent.name)}`}>
                Talk to it
              </Link>
            </footer>
          </li>
        ))}
      </ul>
    </OperatePage>
  );
}
