import { useMemo } from 'react';
import type { WireEntry } from '../api/types.ts';
import { duration, now } from '../clock.ts';
import { dataOf, turnsOf, type Turn } from '../state/entries.ts';
import { scaleOf, spansOf, type SpanKind } from './waterfall-model.ts';

const KINDS: Readonly<Record<SpanKind, string>> = {
  call: 'Model call',
  failed: 'Failed attempt',
  action: 'Action',
  wait: 'Waiting for a person',
};

/** What took how long, turn by turn. */
export function Waterfall({ entries }: { readonly entries: readonly WireEntry[] }) {
  const turns = useMemo(() => turnsOf(entries).filter((one) => one.number !== undefined), [entries]);
  return (
    <div className="waterfall">
      <ul className="legend" aria-label="Colours">
        {(Object.keys(KINDS) as SpanKind[]).map((kind) => (
          <li key={kind}>
            <span className="swatch" data-kind={kind} aria-hidden /> {KINDS[kind]}
          </li>
        ))}
      </ul>
      {turns.map((turn) => (
        <TurnFall key={turn.number} turn={turn} />
      ))}
    </div>
  );
}

function TurnFall({ turn }: { readonly turn: Turn }) {
  const spans = useMemo(() => spansOf(turn.work), [turn]);
  const end = turn.end === undefined ? undefined : dataOf(turn.end, 'end');
  const from = Math.min(...spans.map((one) => one.from));
  const to = turn.end === undefined ? now() : new Date(turn.end.at).getTime();
  const scale = useMemo(() => scaleOf(spans, from, Math.max(to, from)), [spans, from, to]);
  if (spans.length === 0) return null;
  return (
    <section className="fall" aria-label={`Turn ${turn.number ?? ''}`}>
      <header>
        <h3>{turn.said[0]?.text ?? `Turn ${turn.number ?? ''}`}</h3>
        <span>
          {end === undefined ? 'in work' : end.status.replaceAll('_', ' ')} · {duration(scale.busyMs)} of work in{' '}
          {duration(to - from)}
        </span>
      </header>
      <ol>
        {spans.map((span) => {
          const left = scale.at(span.from);
          const width = Math.max(scale.at(span.to ?? to) - left, 0);
          const ms = (span.to ?? to) - span.from;
          return (
            <li key={span.id} title={span.detail}>
              <span className="fall-name" data-bad={span.isBad}>
                {span.label}
              </span>
              <span className="fall-track">
                <span
                  className="fall-bar"
                  data-kind={span.kind}
                  data-bad={span.isBad}
                  data-open={span.to === undefined}
                  style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
                />
                {scale.cuts.map((cut) => (
                  <span
                    key={cut.at}
                    className="fall-cut"
                    style={{ left: `${cut.at * 100}%` }}
                    title={`${duration(cut.ms)} left out`}
                  />
                ))}
              </span>
              <span className="fall-time">{duration(ms)}</span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
