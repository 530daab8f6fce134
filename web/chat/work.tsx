import { Collapsible } from '@base-ui/react/collapsible';
import { ChevronRight } from 'lucide-react';
import { use } from 'react';
import type { ActionData, WireEntry } from '../api/types.ts';
import { duration } from '../clock.ts';
import { dataOf, keepsPlan } from '../state/entries.ts';
import { isAnyOpen, KeptOf, useFold } from '../state/kept.ts';
import type { Draft } from '../state/live-run.ts';
import { Markdown } from '../ui/markdown.tsx';
import { ActionCard } from './action-card.tsx';
import { PlanPanel } from './plan-panel.tsx';

export interface WorkProps {
  readonly entries: readonly WireEntry[];
  readonly drafts: readonly Draft[];
  readonly progress: Readonly<Record<string, string>>;
}

/** What the agent did between question and answer, in order. Model calls are for the inspector. */
export function Work({ entries, drafts, progress }: WorkProps) {
  const hasPlan = entries.some(({ role }) => role === 'plan');
  const shown = hasPlan ? entries.filter((entry) => !keepsPlan(entry)) : entries; // the plan shows what came of those
  return (
    <div className="work">
      {shown.map((entry) => (
        <WorkEntry key={entry.id} entry={entry} progress={progress[entry.id]} />
      ))}
      {drafts.map((draft) =>
        draft.kind === 'thinking' ? <Thinking key={draft.id} id={draft.id} text={draft.text} isGoingOn /> : null,
      )}
    </div>
  );
}

function WorkEntry({ entry, progress }: { readonly entry: WireEntry; readonly progress: string | undefined }) {
  const action = dataOf(entry, 'action');
  if (action !== undefined && isAsked(action)) return null; // the card that asks shows all of it
  if (action !== undefined) return <ActionCard id={entry.id} data={action} progress={progress} />;
  const plan = dataOf(entry, 'plan');
  if (plan?.requests.some(isOpen)) return null; // as above
  if (plan !== undefined) {
    const by = plan.editedBy === undefined ? plan.source : `rewritten by ${plan.editedBy}`;
    return <PlanPanel title={entry.text} steps={plan.steps} source={by} />;
  }
  const call = dataOf(entry, 'call');
  if (call !== undefined) {
    const failed = call.attempts.filter((one) => one.failure !== undefined && one.failure.class !== 'aborted');
    return failed.map((one) => (
      <p key={one.at} className="remark">
        {one.model} did not answer: {one.failure?.message}
      </p>
    ));
  }
  switch (entry.role) {
    case 'thinking':
      return <Thinking id={entry.id} text={entry.text} />;
    case 'assistant':
      return <Markdown text={entry.text} />;
    case 'user':
      return <p className="said-meanwhile">{entry.text}</p>;
    case 'notice':
      return dataOf(entry, 'notice')?.kind === 'restart' ? null : <p className="remark">{entry.text}</p>;
    default:
      return null;
  }
}

/** A person is asked about it just now. Of a program whose calls are asked about, the card shows one of those alone. */
function isAsked({ state, requests }: ActionData): boolean {
  return state === 'waiting' && requests.some((one) => one.parent === undefined && isOpen(one));
}

function isOpen({
  answer,
  cancelled,
}: {
  readonly answer?: unknown;
  readonly cancelled?: string | undefined;
}): boolean {
  return answer === undefined && cancelled === undefined;
}

function Thinking({
  id,
  text,
  isGoingOn = false,
}: {
  readonly id: string;
  readonly text: string;
  readonly isGoingOn?: boolean;
}) {
  const fold = useFold(id, isGoingOn);
  if (text.trim() === '') return null;
  return (
    <Collapsible.Root className="thinking" {...fold}>
      <Collapsible.Trigger className="thinking-head">
        <ChevronRight className="fold-mark" size={14} aria-hidden />
        {isGoingOn ? 'Thinking' : 'Thought'}
      </Collapsible.Trigger>
      <Collapsible.Panel className="thinking-body">{text}</Collapsible.Panel>
    </Collapsible.Root>
  );
}

/** The work of a finished turn in one line; everything on demand. */
export function FoldedWork({ ms, ...work }: WorkProps & { readonly ms: number }) {
  const actions = work.entries.flatMap((one) => dataOf(one, 'action') ?? []);
  const run = use(KeptOf);
  const first = work.entries[0]?.id ?? '';
  // What somebody has opened while it went on stays in the open when it is done.
  const isRead = isAnyOpen(
    run,
    work.entries.map((one) => one.id),
  );
  const fold = useFold(`work ${first}`, isRead);
  const isWorthALine = work.entries.some((one) => one.role !== 'call');
  if (!isWorthALine) return null;
  const failed = actions.filter((one) => one.observation?.outcome !== 'ok').length;
  const names = [...new Set(actions.map((one) => one.name))];
  const about =
    actions.length === 0
      ? 'Worked'
      : names.length <= 2
        ? `Used ${names.join(' and ')}${actions.length > names.length ? ` · ${actions.length} actions` : ''}`
        : `Used ${names.length} tools · ${actions.length} actions`;
  return (
    <Collapsible.Root className="folded-work" {...fold}>
      <Collapsible.Trigger className="folded-head">
        <ChevronRight className="fold-mark" size={15} aria-hidden />
        <span>{about}</span>
        {failed === 0 ? null : <span className="folded-failed">{failed} without success</span>}
        <span className="folded-time">{duration(ms)}</span>
      </Collapsible.Trigger>
      <Collapsible.Panel>
        <Work {...work} />
      </Collapsible.Panel>
    </Collapsible.Root>
  );
}
