import { useState } from 'react';
import type { AgentDetails } from '../api/operate-types.ts';
import { jsonInWords } from '../ui/json-view.tsx';
import { Segments } from '../ui/segments.tsx';
import { Ticked } from '../ui/ticked.tsx';
import { pathOfPlace, shortPlace } from './short-place.ts';

/** Characters from which a value may have to be scrolled. */
const LONG = 200;

/** Every setting with the line of the bundle that it comes from. Variables stand by their names. */
export function AgentSettings({ settings }: { readonly settings: AgentDetails['settings'] }) {
  const [shown, setShown] = useState<'set' | 'all'>('set');
  const set = settings.filter(({ from }) => !from.startsWith('default'));
  return (
    <>
      <div className="toolbar filters">
        <Segments
          label="Which settings"
          value={shown}
          options={[
            { value: 'set', label: `Set in the bundle ${set.length}` },
            { value: 'all', label: `All ${settings.length}` },
          ]}
          onChange={setShown}
        />
      </div>
      <div className="table-frame" tabIndex={0} role="region" aria-label="Settings">
        <table role="table" className="settings">
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader" scope="col">
                Setting
              </th>
              <th role="columnheader" scope="col">
                Value
              </th>
              <th role="columnheader" scope="col">
                From
              </th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {(shown === 'set' ? set : settings).map(({ key, value, from }) => (
              <tr role="row" key={key}>
                <th role="rowheader" scope="row">
                  <code>{key}</code>
                </th>
                <td role="cell" className="setting-value">
                  <div {...(jsonInWords(value).length > LONG ? { className: 'long', tabIndex: 0 } : {})}>
                    {value === null ? '–' : jsonInWords(value)}
                  </div>
                </td>
                <td role="cell" className="setting-from">
                  <From place={from} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function From({ place }: { readonly place: string }) {
  if (place.startsWith('default')) return <Ticked text={place} />;
  return (
    <>
      {shortPlace(place)}
      <small className="cell-more">{pathOfPlace(place)}</small>
    </>
  );
}
