import type { AgentDetails } from '../api/operate-types.ts';
import { money } from '../ui/amounts.ts';

const PARTS = [
  { key: 'input', name: 'Input' },
  { key: 'cacheRead', name: 'Cache read' },
  { key: 'cacheWrite', name: 'Cache write' },
  { key: 'output', name: 'Output' },
] as const;
const BASES = { list: 'list price', configured: 'as configured', unknown: 'price not known' } as const;

/** Which models answer in which role, in which order, and what a million tokens cost today. */
export function AgentModels({ roles }: { readonly roles: AgentDetails['roles'] }) {
  return (
    <>
      <p className="table-about">US dollars for a million tokens, of prompts of the usual length.</p>
      <div className="table-frame" tabIndex={0} role="region" aria-label="Models and prices">
        <table>
          <thead>
            <tr>
              <th scope="col">Role</th>
              <th scope="col">Model</th>
              {PARTS.map(({ key, name }) => (
                <th key={key} scope="col" className="figure">
                  {name}
                </th>
              ))}
              <th scope="col">Basis</th>
            </tr>
          </thead>
          <tbody>
            {roles.flatMap(({ role, decides, models }) =>
              models.map(({ provider, model, rates, basis }, index) => (
                <tr key={`${role} ${provider} ${model}`}>
                  {index > 0 ? null : (
                    <th scope="rowgroup" rowSpan={models.length}>
                      {role}
                      {decides ? <small className="cell-more">decides</small> : null}
                    </th>
                  )}
                  <td className="model-name">
                    {model}
                    <small className="cell-more">
                      {index === 0 ? provider : `${provider}, where the one before cannot answer`}
                    </small>
                  </td>
                  {PARTS.map(({ key }) => (
                    <td key={key} className="figure">
                      {rates?.[key] === undefined ? '–' : money(rates[key])}
                    </td>
                  ))}
                  <td>{BASES[basis]}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </div>
    </>
  );
}
