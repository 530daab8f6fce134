import { Link } from 'wouter';
import { useAgents } from '../state/queries.ts';
import { Failure, Notice } from '../ui/notice.tsx';
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
            <footer>
              <code>{agent.bundle}</code>
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
