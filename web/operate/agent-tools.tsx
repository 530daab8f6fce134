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
  const isRuled = (group: string): boolean => groups.get(group)?.some((one) => one.stances.length > 0) === true;
  // What somebody is asked about stands before what runs by itself.
  const names = [...new Set([...groups.keys(), ...missing.keys()])].toSorted(
    (left, right) => Number(isRuled(right)) - Number(isRuled(left)),
  );
  return (
    <div className="grants">
      <p className="table-about">{inShort(tools)}</p>
      {names.map((group) => {
        const own = (groups.get(group) ?? []).toSorted(byRules);
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

function byRules(left: AgentDetails['tools'][number], right: AgentDetails['tools'][number]): number {
  return Number(right.stances.length > 0) - Number(left.stances.length > 0);
}

function inShort(tools: AgentDetails['tools']): string {
  const ruled = tools.filter((one) => one.stances.some(({ then }) => then !== 'allow')).length;
  const free = tools.length - ruled;
  const runs = free === 1 ? 'One runs without a question' : `${free} run without a question`;
  return `${tools.length === 1 ? 'One tool' : `${tools.length} tools`}. ${runs}${
    ruled === 0 ? '.' : `, ${ruled === 1 ? 'one is' : `${ruled} are`} asked about or refused, by the rules beside them.`
  }`;
}
