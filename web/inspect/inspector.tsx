import { Tabs } from '@base-ui/react/tabs';
import { ArrowLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { ago } from '../clock.ts';
import { useSnapshot } from '../state/queries.ts';
import { useRun } from '../state/use-run.ts';
import { Failure } from '../ui/notice.tsx';
import { StatusDot, statusInWords } from '../ui/status-dot.tsx';
import '../styles/inspect.css';
import { Decisions } from './decisions.tsx';
import { Prompts } from './prompts.tsx';
import { RawLog } from './raw-log.tsx';
import { Tokens } from './tokens.tsx';
import { Waterfall } from './waterfall.tsx';

/** One run from the inside: what took how long, what it cost, what the model saw, who decided, and the log itself. */
export function Inspector({ id }: { readonly id: string }) {
  const { run, link } = useRun(id);
  const snapshot = useSnapshot(id);
  if (link.state === 'refused') return <Failure error={link.error} />;
  const tabs: readonly { readonly name: string; readonly page: ReactNode }[] = [
    { name: 'Time', page: <Waterfall entries={run.entries} /> },
    { name: 'Tokens', page: <Tokens entries={run.entries} /> },
    { name: 'Prompts', page: <Prompts id={id} entries={run.entries} /> },
    { name: 'Decisions', page: <Decisions entries={run.entries} /> },
    { name: 'Log', page: <RawLog id={id} /> },
  ];
  return (
    <section className="inspector" aria-label="Inspector">
      <header className="inspect-head">
        <Link className="button" data-look="quiet" href={`/r/${id}`}>
          <ArrowLeft size={16} aria-hidden /> Conversation
        </Link>
        <h1>{snapshot.data?.title ?? ' '}</h1>
      </header>
      <div className="inspect-body">
        {snapshot.data === undefined ? null : (
          <dl className="facts">
            <Figure name="Status">
              <StatusDot status={snapshot.data.status} kind={snapshot.data.statusKind} />{' '}
              {statusInWords(snapshot.data.status)}
            </Figure>
            <Figure name="Agent">{snapshot.data.agent}</Figure>
            <Figure name="Turns">{snapshot.data.turns}</Figure>
            <Figure name="Cost">
              {snapshot.data.cost === undefined ? 'unknown' : `$${snapshot.data.cost.amount}`}
            </Figure>
            <Figure name="Last progress">{ago(snapshot.data.lastProgressAt)}</Figure>
            <Figure name="Id">
              <code>{id}</code>
            </Figure>
          </dl>
        )}
        <Tabs.Root defaultValue="Time">
          <Tabs.List className="tabs">
            {tabs.map(({ name }) => (
              <Tabs.Tab key={name} value={name} className="tab">
                {name}
              </Tabs.Tab>
            ))}
            <Tabs.Indicator className="tab-mark" />
          </Tabs.List>
          {tabs.map(({ name, page }) => (
            <Tabs.Panel key={name} value={name} className="tab-panel">
              {page}
            </Tabs.Panel>
          ))}
        </Tabs.Root>
      </div>
    </section>
  );
}

function Figure({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
