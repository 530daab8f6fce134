import { useMutation } from '@tanstack/react-query';
import { operate } from '../api/operate.ts';
import type { AgentDetails, ToolServer } from '../api/operate-types.ts';
import { ago, now } from '../clock.ts';
import { queries } from '../state/queries.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';

const STATES = {
  up: { word: 'up', tone: 'good' },
  down: { word: 'down', tone: 'bad' },
  idle: { word: 'not asked yet', tone: 'plain' },
} as const;

/** How the MCP servers of the agent's bundle stand, and which services it may use. */
export function AgentServers({
  agent,
  servers,
  services,
  notices,
}: {
  readonly agent: string;
  readonly servers: readonly ToolServer[];
  readonly services: AgentDetails['services'];
  readonly notices: AgentDetails['notices'];
}) {
  if (servers.length + services.length === 0)
    return (
      <Notice title="It needs nobody else">
        <p>Its bundle names no MCP server and no service.</p>
      </Notice>
    );
  return (
    <ul className="server-list">
      {servers.map((one) => (
        <Server
          key={one.id}
          agent={agent}
          server={one}
          odd={one.status === 'down' ? [] : notices.filter(({ place }) => place === `the MCP server ${one.id}`)}
        />
      ))}
      {services.map(({ namespace, label, description }) => (
        <li key={namespace}>
          <header>
            <h3>{label}</h3>
            <span className="chip">service</span>
          </header>
          <p>{description}</p>
        </li>
      ))}
    </ul>
  );
}

function Server({
  agent,
  server,
  odd,
}: {
  readonly agent: string;
  readonly server: ToolServer;
  readonly odd: AgentDetails['notices'];
}) {
  const { id, transport, status, isConnected, why, tools, listedAt, retryAt, failures } = server;
  const ask = useMutation({
    mutationFn: () => operate.askServer(agent, id),
    onSuccess: (details) => {
      queries.setQueryData(['agent', agent], details);
    },
  });
  return (
    <li data-status={status}>
      <header>
        <h3>{id}</h3>
        <span className="chip" data-tone={STATES[status].tone}>
          {STATES[status].word}
        </span>
        <span className="chip">{transport === 'stdio' ? 'a child process' : 'HTTP'}</span>
        <Button
          disabled={ask.isPending}
          onClick={() => {
            ask.mutate();
          }}
        >
          {ask.isPending ? 'Asking…' : 'Ask now'}
        </Button>
      </header>
      {why === undefined ? null : <p className="server-why">{why}</p>}
      {ask.isError ? (
        <p className="field-problem" role="alert">
          {ask.error.message}
        </p>
      ) : null}
      <p>
        {isConnected ? 'Connected. ' : ''}
        {listedAt === undefined ? 'Has never listed its tools.' : `Listed ${tools.length} tools ${ago(listedAt)}.`}
        {failures === 0 ? '' : ` ${failures === 1 ? 'One attempt' : `${failures} attempts`} in a row failed.`}
        {retryAt === undefined ? '' : nextTime(retryAt)}
      </p>
      {odd.map(({ text }) => (
        <p key={text}>Odd: {text}.</p>
      ))}
      {tools.length === 0 ? null : (
        <details>
          <summary>Tools that it offers</summary>
          <p className="server-tools">
            {tools.map((tool) => (
              <code key={tool} className="chip">
                {tool}
              </code>
            ))}
          </p>
        </details>
      )}
    </li>
  );
}

function nextTime(retryAt: string): string {
  const isDue = Date.parse(retryAt) <= now();
  return isDue
    ? ' It is asked again when a turn needs it.'
    : ` It is left alone; asked again ${ago(retryAt)}, when a turn needs it.`;
}
