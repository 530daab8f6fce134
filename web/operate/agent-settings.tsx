import type { AgentDetails } from '../api/operate-types.ts';
import { jsonInWords } from '../ui/json-view.tsx';

/** Characters from which a value may have to be scrolled. */
const LONG = 200;

/** Every setting with the line of the bundle that it comes from. Variables stand by their names. */
export function AgentSettings({ settings }: { readonly settings: AgentDetails['settings'] }) {
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label="Settings">
      <table className="settings">
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">Value</th>
            <th scope="col">From</th>
          </tr>
        </thead>
        <tbody>
          {settings.map(({ key, value, from }) => (
            <tr key={key}>
              <th scope="row">
                <code>{key}</code>
              </th>
              <td className="setting-value">
                <div {...(jsonInWords(value).length > LONG ? { className: 'long', tabIndex: 0 } : {})}>
                  {value === null ? '–' : jsonInWords(value)}
                </div>
              </td>
              <td className="setting-from">{from === 'default' ? 'default' : short(from)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** `desk.yaml:12:5  config.react…` without the folders before. */
function short(from: string): string {
  return from.replace(/^\S*[/\\]/, '');
}
