import { Tabs } from '@base-ui/react/tabs';
import { ArrowLeft } from 'lucide-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import { api } from '../api/calls.ts';
import { ago, dateInWords } from '../clock.ts';
import { useRun } from '../state/use-run.ts';
import { useTitle } from '../state/use-title.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Failure } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { StatusDot, statusInWords } from '../ui/status-dot.tsx';
import '../styles/figures.css';
import '../styles/inspect.css';
import { money } from '../ui/amounts.ts';
import { Decisions } from './decisions.tsx';
import { Prompts } from './prompts.tsx';
import { RawLog } from './raw-log.tsx';
import { Replay } from './replay.tsx';
import { Tokens } from './tokens.tsx';
import { useCalls } from './use-calls.ts';
import { useLog } from './use-log.ts';
import { Waterfall } from './waterfall.tsx';

const TABS = ['Time', 'Tokens', 'Prompts', 'Verdicts', 'Log', 'Replay'] as const;
type TabName = (typeof TABS)[number];

/** One run from the inside: what took how long, what it cost, what the model saw, who decided, and the log itself. */
export function Inspector({ id }: { readonly id: string }) {
  const { run, link } = useRun(id);
  const isMoving = run.status !== undefined && !run.status.terminal;
  const snapshot = useQuery({
    queryKey: ['run', id, run.status?.version],
    queryFn: () => api.run(id),
    placeholderData: (before) => before,
  });
  const [search, setSearch] = useSearchParams();
  const tab = TABS.find((one) => one.toLowerCase() === search.get('tab')) ?? 'Time';
  const title = snapshot.data?.title;
  useTitle(title === undefined ? undefined : `${tab} of ${title}`);
  if (link.state === 'refused') return <Failure error={link.error} />;
  const { data } = snapshot;
  return (
    <section className="inspector" aria-label="Inspector">
      <header className="inspect-head">
        <Link className="button" data-look="quiet" href={`/r/${id}`} aria-label="To the conversation">
          <ArrowLeft size={16} aria-hidden /> <span>Conversation</span>
        </Link>
        <h1>{data?.title ?? '\u00a0'}</h1>
      </header>
      <div className="inspect-body">
        {data === undefined ? (
          <div className="facts" aria-hidden />
        ) : (
          <dl className="facts">
            <Figure name="Status">
              <StatusDot status={data.status} kind={data.statusKind} /> {statusInWords(data.status)}
            </Figure>
            <Figure name="Agent">{data.agent}</Figure>
            <Figure name="Turns">{data.turns}</Figure>
            <Figure name="Cost in all">{money(data.cost?.amount)}</Figure>
            <Figure name="Began">
              <time dateTime={data.createdAt}>{dateInWords(data.createdAt)}</time>
            </Figure>
            <Figure name="Last progress">{ago(data.lastProgressAt)}</Figure>
            {data.parent === undefined ? null : (
              <Figure name="Below">
                <Link href={`/r/${data.parent.id}/inspect`}>the run that began it</Link>
              </Figure>
            )}
            <Figure name="Id">
              <code>{id}</code> <CopyButton text={id} label="Copy the id" />
            </Figure>
          </dl>
        )}
        {data?.error === undefined ? null : (
          <aside className="finding" data-tone="bad">
            <strong>{data.error.code}</strong> {data.error.message}
          </aside>
        )}
        <Tabs.Root
          value={tab}
          onValueChange={(next: TabName) => {
            // What the other views are pointed at stays theirs.
            setSearch({ tab: next.toLowerCase() }, { replace: true });
          }}
        >
          <Tabs.List className="tabs">
            {TABS.map((name) => (
              <Tabs.Tab key={name} value={name} className="tab">
                {name}
              </Tabs.Tab>
            ))}
            <Tabs.Indicator className="tab-mark" />
          </Tabs.List>
          <Tabs.Panel value="Time" className="tab-panel">
            {run.status === undefined ? (
              <Skeleton kind="rows" count={12} />
            ) : (
              <Waterfall id={id} entries={run.entries} />
            )}
          </Tabs.Panel>
          <Tabs.Panel value="Tokens" className="tab-panel">
            <WithCalls id={id} isMoving={isMoving} show={(calls) => <Tokens calls={calls} />} />
          </Tabs.Panel>
          <Tabs.Panel value="Prompts" className="tab-panel">
            <WithCalls id={id} isMoving={isMoving} show={(calls) => <Prompts id={id} calls={calls} />} />
          </Tabs.Panel>
          <Tabs.Panel value="Verdicts" className="tab-panel">
            <WithLog id={id} isMoving={isMoving} show={(log) => <Decisions agent={data?.agent} log={log} />} />
          </Tabs.Panel>
          <Tabs.Panel value="Log" className="tab-panel">
            <WithLog id={id} isMoving={isMoving} show={(log) => <RawLog id={id} log={log} />} />
          </Tabs.Panel>
          <Tabs.Panel value="Replay" className="tab-panel" keepMounted>
            <Replay id={id} />
          </Tabs.Panel>
        </Tabs.Root>
      </div>
    </section>
  );
}

interface Watched {
  readonly id: string;
  readonly isMoving: boolean;
}

/** Calls are asked for when somebody looks at what is made of them. */
function WithCalls({
  id,
  isMoving,
  show,
}: Watched & { readonly show: (calls: NonNullable<ReturnType<typeof useCalls>['data']>) => ReactNode }) {
  const calls = useCalls(id, isMoving);
  if (calls.data !== undefined) return show(calls.data);
  if (!calls.isError) return <Skeleton kind="rows" count={12} />;
  return (
    <Failure
      error={calls.error}
      onRetry={() => {
        void calls.refetch();
      }}
    />
  );
}

function WithLog({ id, isMoving, show }: Watched & { readonly show: (log: ReturnType<typeof useLog>) => ReactNode }) {
  return show(useLog(id, isMoving));
}

function Figure({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
