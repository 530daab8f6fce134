import { Download } from 'lucide-react';
import { useDeferredValue, useMemo, useState } from 'react';
import { VList } from 'virtua';
import { useSearchParams } from 'wouter';
import type { LoggedFact } from '../api/operate-types.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { download } from '../ui/download.ts';
import { Failure, Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Choice } from '../ui/choice.tsx';
import type { WholeLog } from './use-log.ts';

interface Line {
  readonly fact: LoggedFact;
  /** Its payload on one line. */
  readonly text: string;
}

/** The facts themselves, as they were written. Only those in sight are drawn. */
export function RawLog({ id, log }: { readonly id: string; readonly log: WholeLog }) {
  const { facts, isReading, error, again } = log;
  const [search, setSearch] = useSearchParams();
  const wanted = search.get('find') ?? '';
  const type = search.get('type') ?? '';
  const find = (part: { readonly find?: string; readonly type?: string }): void => {
    const all = Object.entries({ find: wanted, type, ...part }).filter(([, value]) => value !== '');
    setSearch({ tab: 'log', ...Object.fromEntries(all) }, { replace: true });
  };
  const words = useDeferredValue(wanted.trim().toLowerCase());
  const lines = useMemo(() => facts.map((fact): Line => ({ fact, text: JSON.stringify(fact.payload) })), [facts]);
  const types = useMemo(() => [...new Set(facts.map((fact) => fact.type))].sort(), [facts]);
  const shown = useMemo(
    () =>
      lines.filter(
        ({ fact, text }) =>
          (type === '' || fact.type === type) &&
          (words === '' || fact.type.includes(words) || text.toLowerCase().includes(words)),
      ),
    [lines, type, words],
  );
  if (error !== undefined && facts.length === 0) return <Failure error={error} onRetry={again} />;
  if (isReading && facts.length === 0) return <Skeleton kind="rows" count={14} />;
  return (
    <div className="raw-log">
      <div className="toolbar">
        <input
          className="field"
          type="search"
          placeholder="Find in the log"
          aria-label="Find in the log"
          value={wanted}
          onChange={(event) => {
            find({ find: event.target.value });
          }}
        />
        <Choice
          label="Kind of fact"
          value={type}
          options={[{ value: '', label: 'every kind' }, ...types.map((one) => ({ value: one, label: one }))]}
          onChange={(next) => {
            find({ type: next });
          }}
        />
        <span className="toolbar-note" aria-live="polite">
          {shown.length === facts.length
            ? `${facts.length.toLocaleString()} facts`
            : `${shown.length.toLocaleString()} of ${facts.length.toLocaleString()} facts`}
          {isReading ? ', more to come' : ''}
        </span>
        <Button
          disabled={isReading}
          onClick={() => {
            download(`${id}.jsonl`, 'application/x-ndjson', jsonLines(facts));
          }}
        >
          <Download size={15} aria-hidden /> JSONL
        </Button>
      </div>
      {shown.length === 0 ? (
        <Notice title="No fact is like that">
          <p>Try another word or every kind.</p>
        </Notice>
      ) : (
        <VList className="log-list" role="list" aria-label="Facts">
          {shown.map((line) => (
            <FactLine key={line.fact.seq} line={line} />
          ))}
        </VList>
      )}
    </div>
  );
}

function FactLine({ line: { fact, text } }: { readonly line: Line }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className="fact"
      role="listitem"
      open={isOpen}
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open);
      }}
    >
      <summary>
        <span className="fact-seq">{fact.seq}</span>
        <strong>{fact.type}</strong>
        <span className="fact-text">{text}</span>
        <time dateTime={new Date(fact.at).toISOString()}>{new Date(fact.at).toISOString().slice(11, 23)}</time>
      </summary>
      {isOpen ? (
        <div className="fact-open">
          <CopyButton text={JSON.stringify(fact, null, 2)} label={`Copy fact ${fact.seq}`} />
          <pre tabIndex={0}>{JSON.stringify(fact, null, 2)}</pre>
        </div>
      ) : null}
    </details>
  );
}

/** As `treadle runs export` writes them. */
export function jsonLines(facts: readonly LoggedFact[]): string {
  return facts.map((fact) => `${JSON.stringify(fact)}\n`).join('');
}
