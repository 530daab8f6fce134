import { useQuery } from '@tanstack/react-query';
import { api } from '../api/calls.ts';
import { Failure } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';

/** What an agent is granted, as its bundle says: tools by group, models, skills; what is out of reach, and why. */
export function AgentDetails({ agent }: { readonly agent: string }) {
  const capabilities = useQuery({
    queryKey: ['capabilities', agent, undefined],
    queryFn: () => api.capabilities(agent, undefined),
  });
  if (capabilities.isError)
    return (
      <Failure
        error={capabilities.error}
        onRetry={() => {
          void capabilities.refetch();
        }}
      />
    );
  if (capabilities.data === undefined) return <Skeleton kind="rows" count={6} />;
  const { groups, supported_models: models, default_model: configured, skills } = capabilities.data;
  return (
    <dl className="agent-details">
      {configured === undefined ? null : (
        <div>
          <dt>Model</dt>
          <dd>
            {configured.provider} {configured.model}
            {models.length > 1 ? `; users may pick ${models.map((one) => one.label).join(', ')}` : ''}
          </dd>
        </div>
      )}
      {groups.map(({ kind, group, entries, locked, open }) => (
        <div key={`${kind} ${group}`}>
          <dt>
            {group}
            <small>
              {kind === 'mcp' ? 'MCP server' : kind === 'named_services' ? 'service' : locked ? 'always on' : ''}
            </small>
          </dt>
          <dd>
            <ul>
              {entries.map((entry) => (
                <li key={entry.own} data-out={entry.unavailable !== undefined}>
                  <code>{entry.own}</code>
                  <span>{entry.unavailable ?? entry.description ?? ''}</span>
                </li>
              ))}
            </ul>
            {open ? <p className="remark">What it offers is not known until it is asked.</p> : null}
          </dd>
        </div>
      ))}
      {skills.map(({ id, name, description }) => (
        <div key={id}>
          <dt>
            {name}
            <small>skill</small>
          </dt>
          <dd>{description}</dd>
        </div>
      ))}
    </dl>
  );
}
