import { useQueries } from '@tanstack/react-query';
import { Link } from 'wouter';
import { operate } from '../api/operate.ts';
import type { AgentDetails } from '../api/operate-types.ts';
import type { Agent } from '../api/types.ts';
import { useAgents } from '../state/queries.ts';
import { Failure, Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { OperatePage } from './operate-page.tsx';
import { useIsAdmin } from './use-caller.ts';

/** What this server serves. */
export function Agents() {
  const agents = useAgents();
  const isAdmin = useIsAdmin();
  const all = agents.data ?? [];
  const details = useQueries({
    queries: all.map(({ name }) => ({
      queryKey: ['agent', name],
      queryFn: () => operate.agent(name),
      enabled: isAdmin,
      staleTime: 10_000,
    })),
  });
  return (
    <OperatePage title="Agents" about="What this server serves, as its bundles declare it.">
      {agents.isError ? (
        <Failure
          error={agents.error}
          onRetry={() => {
            void agents.refetch();
          }}
        />
      ) : null}
      {agents.isPending ? <Skeleton kind="cards" count={4} /> : null}
      {agents.isSuccess && all.length === 0 ? <Notice title="No agent is served" /> : null}
      <ul className="agent-list">
        {all.map((agent, index) => (
          <AgentCard key={agent.name} agent={agent} details={details[index]?.data} />
        ))}
      </ul>
    </OperatePage>
  );
}

function AgentCard({ agent, details }: { readonly agent: Agent; readonly details: AgentDetails | undefined }) {
  const { name, bundle, description, model, isDefault } = agent;
  const down = details?.servers.filter((one) => one.status === 'down' && uses(details, one.id)) ?? [];
  const decides = details?.roles.find((one) => one.decides)?.models[0];
  const asked = details?.tools.filter((one) => one.stances.some(({ then }) => then !== 'allow')).length ?? 0;
  return (
    <li>
      <header>
        <h2>
          <Link href={`/agents/${encodeURIComponent(name)}`}>{name}</Link>
        </h2>
        {isDefault ? <span className="chip">answers when nobody is named</span> : null}
        {agent.refusedEdit === undefined ? null : (
          <span className="chip" data-tone="bad">
            {agent.refusedEdit.kind === 'wrong' ? 'the last edit is wrong' : 'the last edit needs a restart'}
          </span>
        )}
        {down.map((one) => (
          <span key={one.id} className="chip" data-tone="bad">
            {one.id} is down
          </span>
        ))}
      </header>
      <p>{description ?? 'Its bundle says nothing more of it.'}</p>
      <footer>
        <code>{bundle}</code>
        {model === undefined ? null : <span>{model.why === 'scripted' ? 'a script answers' : model.model}</span>}
        {model !== undefined || decides === undefined ? null : <span>{decides.model}</span>}
        {details === undefined ? null : (
          <span>
            {details.tools.length} {details.tools.length === 1 ? 'tool' : 'tools'}
            {asked === 0 ? '' : `, ${asked} asked about or refused`}
          </span>
        )}
        <span className="agent-links">
          <Link className="button" data-look="quiet" href={`/agents/${encodeURIComponent(name)}`}>
            Look closer
          </Link>
          <Link className="button" href={`/?agent=${encodeURIComponent(name)}`}>
            Talk to it
          </Link>
        </span>
      </footer>
    </li>
  );
}

/** Whether tools of a server are granted; one that is called otherwise in the bundle may be any. */
function uses({ tools, unavailable, servers }: AgentDetails, id: string): boolean {
  const groups = [...tools.filter(({ kind }) => kind === 'mcp'), ...unavailable].map(({ group }) => group);
  const isOf = (group: string): boolean => servers.some((one) => one.id === group);
  return groups.includes(id) || groups.some((group) => !isOf(group));
}
