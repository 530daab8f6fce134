import { Bot, ChartColumn, Inbox, KeyRound, MessageSquarePlus, Moon, Search, Sun, SunMoon } from 'lucide-react';
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { RunSummary } from '../api/types.ts';
import { now } from '../clock.ts';
import { useRuns, useWaiting } from '../state/queries.ts';
import { useTheme, type Theme } from '../state/theme.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { RunRow } from './run-row.tsx';

export function Sidebar({ onNavigate }: { readonly onNavigate: () => void }) {
  const [search, setSearch] = useState('');
  const [isArchive, setArchive] = useState(false);
  const runs = useRuns(useDeferredValue(search.trim()), isArchive);
  const [path] = useLocation();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      field.current?.focus();
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
    };
  }, []);
  const all = runs.data?.pages.flatMap((page) => page.runs) ?? [];
  const waits = useWaiting();
  const waiting = (waits.data?.pages ?? []).flatMap((page) => page.runs).filter(isForPerson).length;
  return (
    <nav className="sidebar" aria-label="Conversations" onClick={onNavigate}>
      <div className="sidebar-top">
        <div className="sidebar-head">
          <Link href="/" className="brand" aria-label="Treadle, new conversation">
            <img src="/treadle.svg" alt="" width={24} height={24} />
            Treadle
          </Link>
          <ThemeSwitch />
        </div>
        <Link href="/" className="new-button" aria-current={path === '/' ? 'page' : undefined}>
          <MessageSquarePlus size={17} aria-hidden /> New conversation
        </Link>
        <label className="search" onClick={(event) => event.stopPropagation()}>
          <Search size={15} aria-hidden />
          <input
            ref={field}
            type="search"
            placeholder="Search"
            aria-label="Search conversations"
            value={search}
            onChange={(event) => {
              setSearch(event.target.value);
            }}
          />
          <kbd>Ctrl K</kbd>
        </label>
      </div>
      <div className="sidebar-list">
        {runs.isError && all.length === 0 ? <p className="sidebar-note">The list cannot be loaded now.</p> : null}
        {runs.isSuccess && all.length === 0 ? (
          <p className="sidebar-note">
            {search !== '' ? 'Nothing found.' : isArchive ? 'Nothing is archived.' : 'Conversations appear here.'}
          </p>
        ) : null}
        {grouped(all).map(({ title, rows }) => (
          <section key={title}>
            <h2>{title}</h2>
            <ul>
              {rows.map((run) => (
                <RunRow key={run.id} run={run} isOpen={path.startsWith(`/r/${run.id}`)} />
              ))}
            </ul>
          </section>
        ))}
        {runs.hasNextPage ? (
          <Button
            look="quiet"
            disabled={runs.isFetchingNextPage}
            onClick={(event) => {
              event.stopPropagation();
              void runs.fetchNextPage();
            }}
          >
            Older ones
          </Button>
        ) : null}
        <Button
          look="quiet"
          className="archive-switch"
          onClick={(event) => {
            event.stopPropagation();
            setArchive(!isArchive);
          }}
        >
          {isArchive ? 'Back to current ones' : 'Archive'}
        </Button>
      </div>
      <div className="sidebar-foot">
        <NavLink
          href="/approvals"
          icon={<Inbox size={16} />}
          text="Approvals"
          count={waiting}
          isMore={waits.hasNextPage}
        />
        <NavLink href="/agents" icon={<Bot size={16} />} text="Agents" />
        <NavLink href="/usage" also={['/budgets']} icon={<ChartColumn size={16} />} text="Usage" />
        <NavLink href="/keys" also={['/accounts', '/allowances']} icon={<KeyRound size={16} />} text="Access" />
      </div>
    </nav>
  );
}

function isForPerson({ statusKind }: RunSummary): boolean {
  return statusKind === 'waiting_for_person';
}

function NavLink({
  href,
  also = [],
  icon,
  text,
  count = 0,
  isMore = false,
}: {
  readonly href: string;
  /** Pages that stand behind this link, too. */
  readonly also?: readonly string[];
  readonly icon: React.ReactNode;
  readonly text: string;
  readonly count?: number;
  /** There are at least so many. */
  readonly isMore?: boolean;
}) {
  const [path] = useLocation();
  return (
    <Link
      href={href}
      className="nav-link"
      aria-current={[href, ...also].some((one) => path.startsWith(one)) ? 'page' : undefined}
    >
      {icon}
      {text}
      {count === 0 ? null : (
        <span className="badge" aria-label={`${count}${isMore ? ' and more' : ''} waiting`}>
          {count}
          {isMore ? '+' : ''}
        </span>
      )}
    </Link>
  );
}

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };

function ThemeSwitch() {
  const [theme, setTheme] = useTheme();
  const icons = { system: <SunMoon size={16} />, light: <Sun size={16} />, dark: <Moon size={16} /> };
  return (
    <IconButton
      label={`Theme: ${theme}`}
      onClick={(event) => {
        event.stopPropagation();
        setTheme(NEXT[theme]);
      }}
    >
      {icons[theme]}
    </IconButton>
  );
}

/** By how long ago, as people remember. */
function grouped(runs: readonly RunSummary[]): readonly { readonly title: string; readonly rows: RunSummary[] }[] {
  const today = new Date(now()).setHours(0, 0, 0, 0);
  const groups = new Map<string, RunSummary[]>();
  for (const run of runs) {
    const at = new Date(run.updatedAt).getTime();
    const title =
      run.statusKind === 'waiting_for_person'
        ? 'Waiting for you'
        : at >= today
          ? 'Today'
          : at >= today - 86_400_000
            ? 'Yesterday'
            : at >= today - 7 * 86_400_000
              ? 'This week'
              : 'Earlier';
    const group = groups.get(title);
    if (group === undefined) groups.set(title, [run]);
    else group.push(run);
  }
  const order = ['Waiting for you', 'Today', 'Yesterday', 'This week', 'Earlier'];
  return order.flatMap((title) => {
    const rows = groups.get(title);
    return rows === undefined ? [] : [{ title, rows }];
  });
}
