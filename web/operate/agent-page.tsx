import { Tabs } from '@base-ui/react/tabs';
import { useQuery } from '@tanstack/react-query';
import { ArrowLeft } from 'lucide-react';
import { Link, useSearchParams } from 'wouter';
import { ApiError } from '../api/http.ts';
import { operate } from '../api/operate.ts';
import type { AgentDetails } from '../api/operate-types.ts';
import { useAgents } from '../state/queries.ts';
import { useTitle } from '../state/use-title.ts';
import { Failure } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import '../styles/figures.css';
import '../styles/inspect.css';
import '../styles/operate.css';
import { AgentDetails as WhatUsersSee } from './agent-details.tsx';
import { AgentModels } from './agent-models.tsx';
import { AgentPlugins } from './agent-plugins.tsx';
import { AgentServers } from './agent-servers.tsx';
import { AgentSettings } from './agent-settings.tsx';
import { AgentTools } from './agent-tools.tsx';
import { EditPanel } from './edit-panel.tsx';

const TABS = ['Tools', 'Models', 'Plugins', 'Servers', 'Settings', 'Edit'] as const;
type TabName = (typeof TABS)[number];
const REFRESH_MS = 10_000;

/** One agent: what it is declared and granted, what judges it, how its servers stand, and what an edit would do. */
export function AgentPage({ name }: { readonly name: string }) {
  useTitle(name);
  const agents = useAgents();
  const about = agents.data?.find((one) => one.name === name)?.description;
  const details = useQuery({
    queryKey: ['agent', name],
    queryFn: () => operate.agent(name),
    refetchInterval: REFRESH_MS,
  });
  const isForbidden = details.error instanceof ApiError && details.error.status === 403;
  return (
    <section className="operate" aria-label={`Agent ${name}`}>
      <div className="operate-body">
        <header>
          <Link className="back" href="/agents">
            <ArrowLeft size={14} aria-hidden /> All agents
          </Link>
          <h1>{name}</h1>
          <p>{about ?? ' '}</p>
        </header>
        {details.data === undefined ? null : <AgentTabs name={name} details={details.data} />}
        {details.isPending ? <Skeleton kind="rows" count={8} /> : null}
        {isForbidden ? (
          <>
            <p className="remark">What users may choose of it. How it is set up is for keys with the scope “admin”.</p>
            <WhatUsersSee agent={name} />
          </>
        ) : null}
        {details.isError && !isForbidden && details.data === undefined ? (
          <Failure
            error={details.error}
            onRetry={() => {
              void details.refetch();
            }}
          />
        ) : null}
      </div>
    </section>
  );
}

/** What is odd about a server stands with the server. */
function isOfBundle({ place }: { readonly place: string }): boolean {
  return !place.startsWith('the MCP server ');
}

function AgentTabs({ name, details }: { readonly name: string; readonly details: AgentDetails }) {
  const [search, setSearch] = useSearchParams();
  const tab = TABS.find((one) => one.toLowerCase() === search.get('tab')) ?? 'Tools';
  const down = details.servers.filter((one) => one.status === 'down').length;
  return (
    <>
      <p className="agent-revision">
        <code>{details.bundle}</code> revision <code>{details.revision.slice(0, 12)}</code>
      </p>
      {details.refusedEdit === undefined ? null : (
        <aside className="finding" data-tone="bad" role="status">
          <strong>
            {details.refusedEdit.kind === 'wrong'
              ? 'The last edit does not count: it is wrong.'
              : 'The last edit needs a restart.'}
          </strong>{' '}
          {details.refusedEdit.why} <em>To mend it: {details.refusedEdit.hint}.</em> Turns go on with the edition
          before.
        </aside>
      )}
      {details.notices.filter(isOfBundle).map(({ place, text }) => (
        <aside key={`${place} ${text}`} className="finding" data-tone="wait">
          <strong>{place}</strong> {text}
        </aside>
      ))}
      <Tabs.Root
        value={tab}
        onValueChange={(next: TabName) => {
          setSearch({ tab: next.toLowerCase() }, { replace: true });
        }}
      >
        <Tabs.List className="tabs">
          {TABS.map((one) => (
            <Tabs.Tab key={one} value={one} className="tab">
              {one}
              {one === 'Servers' && down > 0 ? (
                <span className="badge" aria-label={`${down} down`}>
                  {down}
                </span>
              ) : null}
            </Tabs.Tab>
          ))}
          <Tabs.Indicator className="tab-mark" />
        </Tabs.List>
        <Tabs.Panel value="Tools" className="tab-panel">
          <AgentTools details={details} />
        </Tabs.Panel>
        <Tabs.Panel value="Models" className="tab-panel">
          <AgentModels roles={details.roles} />
        </Tabs.Panel>
        <Tabs.Panel value="Plugins" className="tab-panel">
          <AgentPlugins plugins={details.plugins} />
        </Tabs.Panel>
        <Tabs.Panel value="Servers" className="tab-panel">
          <AgentServers
            agent={name}
            servers={details.servers}
            services={details.services}
            notices={details.notices.filter((one) => !isOfBundle(one))}
          />
        </Tabs.Panel>
        <Tabs.Panel value="Settings" className="tab-panel">
          <AgentSettings settings={details.settings} />
        </Tabs.Panel>
        <Tabs.Panel value="Edit" className="tab-panel" keepMounted>
          <EditPanel agent={name} />
        </Tabs.Panel>
      </Tabs.Root>
    </>
  );
}
