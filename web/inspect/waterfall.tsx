import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { operate } from '../api/operate.ts';
import type { WireEntry } from '../api/types.ts';
import { duration } from '../clock.ts';
import { dataOf, turnsOf, type Turn } from '../state/entries.ts';
import { useTick } from '../state/use-tick.ts';
import { useIsNarrow } from '../state/use-is-narrow.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { percent } from '../ui/amounts.ts';
import { scaleOf, spansOf, ticksOf, timeByKind, type Scale, type Span, type SpanKind } from './waterfall-model.ts';

const KINDS: Readonly<Record<SpanKind, string>> = {
  call: 'Model',
  failed: 'Failed attempts',
  action: 'Tools',
  below: 'Other agents',
  outside: 'Work elsewhere',
  wait: 'Waiting for a person',
};
const ALL = Object.keys(KINDS) as SpanKind[];

/** Turns that are drawn before somebody asks for the earlier ones. */
const LATEST = 20;

/** What took how long, turn by turn, with what ran below. */
export function Waterfall({ id, entries }: { readonly id: string; readonly entries: readonly WireEntry[] }) {
  const turns = useMemo(() => turnsOf(entries).filter((one) => one.number !== undefined), [entries]);
  const spans = useMemo(() => turns.flatMap((turn) => spansOf(turn.work)), [turns]);
  const [shown, setShown] = useState(LATEST);
  const at = useTick(turns.at(-1)?.end === undefined);
  if (spans.length === 0)
    return (
      <Notice title="Nothing took any time yet">
        <p>Model calls, actions and waits are drawn here as they happen.</p>
      </Notice>
    );
  return (
    <div className="waterfall">
      <Shares spans={spans} at={at} />
      {turns.length <= shown ? null : (
        <Button
          look="quiet"
          onClick={() => {
            setShown(Infinity);
          }}
        >
          {turns.length - shown} earlier turns
        </Button>
      )}
      {turns.slice(-shown).map((turn) => (
        <TurnFall key={turn.number} id={id} turn={turn} at={at} />
      ))}
    </div>
  );
}

/** Where the time went, all turns together: the legend of the drawings below. */
function Shares({ spans, at }: { readonly spans: readonly Span[]; readonly at: number }) {
  const times = timeByKind(spans, at);
  const kinds = ALL.filter((kind) => times[kind] > 0);
  const work = kinds.filter((kind) => kind !== 'wait');
  const whole = work.reduce((sum, kind) => sum + times[kind], 0);
  return (
    <div className="shares">
      <div className="share-bar" aria-hidden>
        {work.map((kind) => (
          <span key={kind} className="swatch" data-kind={kind} style={{ flexGrow: times[kind] }} />
        ))}
      </div>
      <dl className="legend">
        {kinds.map((kind) => (
          <div key={kind}>
            <dt>
              <span className="swatch" data-kind={kind} aria-hidden /> {KINDS[kind]}
            </dt>
            <dd>
              {duration(times[kind])}
              {kind === 'wait' ? null : <small>{percent(times[kind], whole)}</small>}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function TurnFall({ id, turn, at }: { readonly id: string; readonly turn: Turn; readonly at: number }) {
  const isNarrow = useIsNarrow();
  const spans = useMemo(() => spansOf(turn.work), [turn]);
  const end = turn.end === undefined ? undefined : dataOf(turn.end, 'end');
  const from = Math.min(...spans.map((one) => one.from));
  const to =
    turn.end === undefined ? Math.max(at, ...spans.map((one) => one.to ?? one.from)) : new Date(turn.end.at).getTime();
  const scale = useMemo(() => scaleOf(spans, from, Math.max(to, from)), [spans, from, to]);
  const ticks = useMemo(() => ticksOf(scale, from, to, isNarrow ? 3 : 7), [scale, from, to, isNarrow]);
  const said = turn.said[0]?.text ?? '';
  if (spans.length === 0) return null;
  return (
    <section className="fall" aria-label={`Turn ${turn.number ?? ''}`}>
      <header>
        <h3>
          <small>{turn.number}</small> {said === '' ? 'Without words' : said}
        </h3>
        <span>
          {end === undefined ? 'not over' : end.status.replaceAll('_', ' ')} · {duration(scale.busyMs)} of work in{' '}
          {duration(to - from)}
        </span>
      </header>
      <div className="fall-axis" aria-hidden>
        <span className="fall-track">
          {ticks.map(({ at, ms }) => (
            <span key={ms} style={{ left: `${at * 100}%` }}>
              {ms === 0 ? '0' : duration(ms)}
            </span>
          ))}
        </span>
      </div>
      <ol className="fall-rows">
        <Rows run={id} turn={turn.number} spans={spans} scale={scale} begin={from} end={to} depth={0} />
      </ol>
    </section>
  );
}

interface RowsProps {
  /** The run that did it, and in which of its turns; unknown of a run below. */
  readonly run: string;
  readonly turn: number | undefined;
  readonly spans: readonly Span[];
  readonly scale: Scale;
  readonly begin: number;
  readonly end: number;
  /** How many runs it is below the one that is looked at. */
  readonly depth: number;
}

/** Levels of runs below that are drawn. */
const DEEPEST = 4;

function Rows({ spans, ...place }: RowsProps) {
  return spans.map((span) => <Row key={span.id} span={span} {...place} />);
}

function Row({ span, ...place }: Omit<RowsProps, 'spans'> & { readonly span: Span }) {
  const { run, turn, scale, begin, end, depth } = place;
  const [isOpen, setOpen] = useState(false);
  const left = scale.at(span.from);
  const width = Math.max(scale.at(span.to ?? end) - left, 0);
  const ms = (span.to ?? end) - span.from;
  const isWithin = span.kind !== 'call' && span.kind !== 'failed';
  return (
    <>
      <li data-open={isOpen}>
        <button
          type="button"
          className="fall-row"
          aria-expanded={isOpen}
          onClick={() => {
            setOpen(!isOpen);
          }}
        >
          <span
            className="fall-name"
            data-bad={span.isBad}
            data-name={span.isName}
            style={{ paddingInlineStart: `calc(${depth * 2 + (isWithin ? 1 : 0)} * var(--step))` }}
          >
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
        </button>
        {isOpen ? (
          <p className="fall-detail">
            {KINDS[span.kind]}, {duration(span.from - begin)} after the beginning
            {span.to === undefined ? ', and goes on' : ''}. {span.detail}
            <span className="fall-links">
              {span.run === undefined ? null : <Link href={`/r/${span.run}/inspect`}>Look into that run</Link>}
              {turn === undefined || span.iteration === undefined || isWithin ? null : (
                <Link href={`/r/${run}/inspect?tab=prompts&call=${turn}.${span.iteration}`}>What the model saw</Link>
              )}
              {span.action === undefined ? null : (
                <Link href={`/r/${run}/inspect?tab=log&find=${encodeURIComponent(`"${span.action}"`)}`}>
                  Its facts in the log
                </Link>
              )}
            </span>
          </p>
        ) : null}
      </li>
      {span.run === undefined || depth >= DEEPEST ? null : (
        <Below {...place} run={span.run} turn={undefined} depth={depth + 1} isMoving={span.to === undefined} />
      )}
    </>
  );
}

const REFRESH_MS = 2_000;

/** What the run below did, on the same scale. */
function Below({
  run,
  isMoving,
  ...place
}: Omit<RowsProps, 'spans'> & { readonly run: string; readonly isMoving: boolean }) {
  const entries = useQuery({
    queryKey: ['entries', run],
    queryFn: ({ signal }) => operate.entries(run, signal),
    refetchInterval: isMoving ? REFRESH_MS : false,
  });
  const spans = useMemo(() => spansOf(entries.data ?? []), [entries.data]);
  return <Rows run={run} spans={spans} {...place} />;
}
