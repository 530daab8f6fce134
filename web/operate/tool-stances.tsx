import type { AgentDetails } from '../api/operate-types.ts';
import { shortPlace } from './short-place.ts';

type Stance = AgentDetails['tools'][number]['stances'][number];

const SAID = {
  allow: { word: 'runs', tone: 'good' },
  ask: { word: 'asks', tone: 'accent' },
  deny: { word: 'denied', tone: 'bad' },
} as const;

/** What is known beforehand of a tool's runs: who asks or refuses, of which runs, why, and on which line of the bundle that stands. */
export function ToolStances({ stances }: { readonly stances: readonly Stance[] }) {
  const isDecided = stances.some(({ when, then }) => when === undefined && then !== 'allow');
  return (
    <ul className="stances" aria-label="Before it runs">
      {stances.map((one) => (
        <li key={`${one.by} ${one.then} ${one.when ?? ''}`}>
          {one.by === 'tool' ? (
            <span className="chip" data-tone="wait">
              depends
            </span>
          ) : (
            <span className="chip" data-tone={SAID[one.then].tone}>
              {SAID[one.then].word}
            </span>
          )}
          <div>
            <span>{conditionOf(one, stances)}</span>
            {one.why === undefined ? null : <q>{one.why}</q>}
            <small title={one.from}>
              <code>{one.by === 'tool' ? 'the tool itself' : one.by}</code>
              {one.from === undefined ? null : <> at {shortPlace(one.from)}</>}
            </small>
          </div>
        </li>
      ))}
      {isDecided ? null : (
        <li>
          <span className="chip">runs</span>
          <div>
            <span>{stances.length === 0 ? 'Nobody is asked.' : 'otherwise'}</span>
          </div>
        </li>
      )}
    </ul>
  );
}

function conditionOf(one: Stance, all: readonly Stance[]): string {
  if (one.by === 'tool') return 'The tool looks at the arguments, and may ask or refuse.';
  if (one.when !== undefined) return `when ${one.when}`;
  return all.some((other) => other.by === one.by && other !== one) ? 'otherwise' : 'always';
}
