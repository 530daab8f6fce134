import { Activity, WifiOff } from 'lucide-react';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { Link as PageLink, useLocation } from 'wouter';
import { api } from '../api/calls.ts';
import type { RunAnswer, WireEntry } from '../api/types.ts';
import { KeptOf } from '../state/kept.ts';
import { runsChanged, useSnapshot } from '../state/queries.ts';
import { useChoices } from '../state/use-choices.ts';
import { useRun } from '../state/use-run.ts';
import { useTitle } from '../state/use-title.ts';
import { versionLabels } from '../state/version-labels.ts';
import { useVersions } from '../state/versions.ts';
import type { Link, RunView } from '../state/run-link.ts';
import { Failure, Notice } from '../ui/notice.tsx';
import { StatusDot, statusInWords } from '../ui/status-dot.tsx';
import { ConversationMenu } from './conversation-menu.tsx';
import { Composer, type ComposerProps } from './composer.tsx';
import { Exchanges } from './exchanges.tsx';
import { OpenRequests } from './open-requests.tsx';
import { PlusMenu } from './plus-menu.tsx';
import { settled } from './settled.ts';

/** One conversation, live. */
export function ChatPage({ id }: { readonly id: string }) {
  const view = useRun(id);
  const { link } = view;
  if (link.state === 'refused' && link.error.status === 404)
    return (
      <Notice
        title="There is no such conversation"
        action={
          <PageLink className="button" href="/">
            Begin a new one
          </PageLink>
        }
      >
        <p>It was removed, or it belongs to somebody else.</p>
      </Notice>
    );
  if (link.state === 'refused') return <Failure error={link.error} />;
  return (
    <KeptOf value={id}>
      <Conversation id={id} view={view} />
    </KeptOf>
  );
}

function Conversation({ id, view: { run, link } }: { readonly id: string; readonly view: RunView }) {
  const [, go] = useLocation();
  const snapshot = useSnapshot(id);
  useTitle(snapshot.data?.title);
  const versions = useVersions(snapshot.data);
  const [problem, setProblem] = useState<unknown>();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const choosing = useChoices(snapshot.data?.agent, id, isMenuOpen);
  const { status } = run;
  const isWorking = status?.statusKind === 'working' || status?.statusKind === 'waiting_for_work';
  const requests = status?.requests ?? [];
  const isAsked = requests.some((one) => one.kind !== 'input');
  const isQuestioned = requests.length > 0 && !isAsked;

  const kind = status?.status;
  useEffect(() => {
    if (kind !== undefined) runsChanged();
  }, [kind]);

  const attempt = useCallback((work: Promise<unknown>): void => {
    setProblem(undefined);
    work.then(runsChanged, setProblem);
  }, []);
  const send = useCallback<ComposerProps['onSend']>(
    async (message, mode) => {
      await settled(choosing, setMenuOpen);
      // Said while a person is asked, words take the place of the answer: they answer a question, and set actions aside.
      await api.say(id, isAsked ? 'steer' : isQuestioned ? undefined : mode, message);
      runsChanged();
    },
    [id, isAsked, isQuestioned, choosing],
  );
  const answer = async (given: readonly RunAnswer[]): Promise<void> => {
    await api.answer(id, given);
    runsChanged();
    // The card goes: whoever uses the keyboard is taken to the next one, or back to the words.
    requestAnimationFrame(() => {
      document.querySelector<HTMLElement>('.approval .button, .composer-text')?.focus();
    });
  };
  const labels = snapshot.data?.metadata;
  const actions = useMemo(() => {
    const fork = async (at: Parameters<typeof api.fork>[1]): Promise<void> => {
      const forked = await api.fork(id, at);
      runsChanged();
      go(`/r/${forked.id}`);
    };
    const version = ({ position }: WireEntry) => versionLabels({ id, metadata: labels ?? {} }, position);
    return {
      onFork: (entry: string) => {
        attempt(fork({ at: entry }));
      },
      onRetry: (entry: WireEntry) => {
        attempt(fork({ at: entry.id, metadata: version(entry) }));
      },
      onEdit: (entry: WireEntry, text: string) => fork({ at: entry.id, content: text, metadata: version(entry) }),
      onResume: () => {
        attempt(api.resume(id));
      },
    };
  }, [attempt, go, id, labels]);
  return (
    <section className="chat" aria-label="Conversation">
      <header className="chat-head">
        <h1 dir="auto" title={snapshot.data?.prompt}>
          {snapshot.data?.title ?? ' '}
        </h1>
        {snapshot.data === undefined ? null : <span className="chat-agent">{snapshot.data.agent}</span>}
        {status === undefined ? null : (
          <span className="chat-status">
            <StatusDot status={status.status} kind={status.statusKind} />
            <span>{isAsked ? 'Needs approval' : statusInWords(status.status)}</span>
          </span>
        )}
        <PageLink className="button" data-look="quiet" href={`/r/${id}/inspect`}>
          <Activity size={16} aria-hidden /> Inspect
        </PageLink>
        {snapshot.data === undefined ? null : <ConversationMenu run={snapshot.data} />}
      </header>
      <LinkBanner link={link} hasEntries={run.entries.length > 0} />
      <Exchanges run={run} versions={versions} {...actions}>
        {isWorking && run.drafts.length === 0 ? <Activities text={run.activity} /> : null}
        <OpenRequests requests={requests} onAnswer={answer} />
        {problem === undefined ? null : <Failure error={problem} />}
      </Exchanges>
      <Composer
        id={id}
        isWorking={isWorking}
        placeholder={
          isAsked
            ? 'Say something instead: what waits is set aside'
            : isQuestioned
              ? 'What you say here is the answer, too'
              : 'Say something'
        }
        onSend={send}
        onStop={() => {
          attempt(api.stop(id));
        }}
        menu={<PlusMenu choosing={choosing} isOpen={isMenuOpen} onOpen={setMenuOpen} isOwn />}
      />
    </section>
  );
}

const ACTIVITIES: Readonly<Record<string, string>> = {
  thinking: 'Thinking',
  tool_running: 'Working',
  waiting: 'Waiting',
};

function Activities({ text }: { readonly text: string | undefined }) {
  return (
    <p className="activity" role="status">
      <span className="shuttle" aria-hidden />
      {text === undefined ? 'Working' : (ACTIVITIES[text] ?? text)}
    </p>
  );
}

function LinkBanner({ link, hasEntries }: { readonly link: Link; readonly hasEntries: boolean }) {
  if (link.state === 'connecting' && !hasEntries)
    return (
      <p className="link-banner" role="status">
        Opening the conversation…
      </p>
    );
  if (link.state !== 'lost') return null;
  return (
    <p className="link-banner" data-tone="bad" role="status">
      <WifiOff size={15} aria-hidden />
      {link.offline ? 'You are offline.' : 'The connection was lost.'} The run goes on; this page catches up by itself.
    </p>
  );
}
