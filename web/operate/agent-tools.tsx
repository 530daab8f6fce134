import type { AgentDetails } from '../api/operate-types.ts';
import { Notice } from '../ui/notice.tsx';
import { ToolStances } from './tool-stances.tsx';

const KINDS = { tools: '', mcp: 'MCP server', named_services: 'service' } as const;
const EFFECTS = {
  read: 'reads',
  idempotent: 'may be repeated',
  once: 'acts once',
} as const;

/** Every tool that the agent is granted, by group: what it does to the world, and who is asked before. */
export function AgentTools({ details: { tools, unavailable, skills } }: { readonly details: AgentDetails }) {
  if (tools.length + unavailable.length + skills.length === 0)
    return (
      <Notice title="It may use nothing">
        <p>Its bundle grants no tools: it can only talk.</p>
      </Notice>
    );
  const groups = Map.groupBy(tools, (one) => one.group);
  const missing = Map.groupBy(unavailable, (one) => one.group);
  const names = [...new Set([...groups.keys(), ...missing.keys()])];
  return (
    <div className="grants">
      {names.map((group) => {
        const own = groups.get(group) ?? [];
        const kind = own[0] === undefined ? '' : KINDS[own[0].kind];
        return (
          <section key={group}>
            <h3>
              {group} {kind === '' ? null : <small>{kind}</small>}
              {own.some((one) => one.locked) ? <small>users cannot switch it off</small> : null}
            </h3>
            <ul>
              {own.map((tool) => (
                <li key={tool.name}>
                  <div className="grant">
                    <div className="grant-name">
                      <code>{tool.name}</code>
                      <span className="chip" data-tone={tool.effect === 'once' ? 'wait' : undefined}>
                        {EFFECTS[tool.effect]}
                      </span>
                      {tool.needs === undefined ? null : (
                        <span className="chip">
                          needs {tool.needs.provider}: {tool.needs.claims.join(', ')}
                        </span>
                      )}
                    </div>
                    <p>{tool.description}</p>
                  </div>
                  <ToolStances stances={tool.stances} />
                </li>
              ))}
              {missing.get(group)?.map(({ name, why }) => (
                <li key={name} data-out="true">
                  <div className="grant">
                    <div className="grant-name">
                      <code>{name}</code>
                      <span className="chip" data-tone="bad">
                        not there
                      </span>
                    </div>
                    <p>{why}</p>
                  </div>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
      {skills.length === 0 ? null : (
        <section>
          <h3>Skills</h3>
          <ul>
            {skills.map(({ id, name, description, requires }) => (
              <li key={id}>
                <div className="grant">
                  <div className="grant-name">
                    <code>{name}</code>
                    {requires.length === 0 ? null : <span className="chip">needs {requires.join(', ')}</span>}
                  </div>
                  <p>{description}</p>
                </div>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
