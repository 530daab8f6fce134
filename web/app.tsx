import { CSPProvider } from '@base-ui/react/csp-provider';
import { Tooltip } from '@base-ui/react/tooltip';
import { Menu as MenuIcon } from 'lucide-react';
import { lazy, Suspense, useState, useSyncExternalStore } from 'react';
import { Link, Route, Switch } from 'wouter';
import { keyRefusal, onKeyChanged } from './api/key.ts';
import { NewChat } from './chat/new-chat.tsx';
import { Sidebar } from './shell/sidebar.tsx';
import { SignIn } from './shell/sign-in.tsx';
import { IconButton } from './ui/button.tsx';
import { Notice } from './ui/notice.tsx';

// A conversation needs more than the first page, Markdown above all: it comes beside it, and is there before the first answer.
const ChatPage = lazy(async () => ({ default: (await import('./chat/chat-page.tsx')).ChatPage }));
import('./chat/chat-page.tsx').catch(() => undefined); // whoever opens a conversation asks again

// What is not the chat is loaded when somebody goes there.
const Inspector = lazy(async () => ({ default: (await import('./inspect/inspector.tsx')).Inspector }));
const Approvals = lazy(async () => ({ default: (await import('./operate/approvals.tsx')).Approvals }));
const AgentPage = lazy(async () => ({ default: (await import('./operate/agent-page.tsx')).AgentPage }));
const Budgets = lazy(async () => ({ default: (await import('./operate/budgets.tsx')).Budgets }));
const Accounts = lazy(async () => ({ default: (await import('./operate/accounts.tsx')).Accounts }));
const Allowances = lazy(async () => ({ default: (await import('./operate/allowances.tsx')).Allowances }));
const Notes = lazy(async () => ({ default: (await import('./operate/notes.tsx')).Notes }));
const Agents = lazy(async () => ({ default: (await import('./operate/agents.tsx')).Agents }));
const Usage = lazy(async () => ({ default: (await import('./operate/usage.tsx')).Usage }));
const Access = lazy(async () => ({ default: (await import('./operate/access.tsx')).Access }));

export function App() {
  const refusal = useSyncExternalStore(onKeyChanged, keyRefusal);
  if (refusal !== undefined) return <SignIn error={refusal} />;
  return (
    // The server's policy allows no style element that is not its own.
    <CSPProvider disableStyleElements>
      <Tooltip.Provider>
        <Frame />
      </Tooltip.Provider>
    </CSPProvider>
  );
}

function Frame() {
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  return (
    <div className="frame" data-drawer={isDrawerOpen}>
      <a className="skip-link" href="#main">
        To the conversation
      </a>
      <div className="drawer">
        <Sidebar
          onNavigate={() => {
            setDrawerOpen(false);
          }}
        />
      </div>
      <button
        type="button"
        className="drawer-shade"
        aria-label="Close the menu"
        tabIndex={isDrawerOpen ? 0 : -1}
        onClick={() => {
          setDrawerOpen(false);
        }}
      />
      <IconButton
        label="Conversations"
        className="drawer-button"
        onClick={() => {
          setDrawerOpen(!isDrawerOpen);
        }}
      >
        <MenuIcon size={18} />
      </IconButton>
      <main id="main">
        <Suspense fallback={<div className="loading" role="status" aria-label="Loading…" />}>
          <Switch>
            <Route path="/">
              <NewChat />
            </Route>
            <Route path="/r/:id">{({ id }) => <ChatPage key={id} id={id} />}</Route>
            <Route path="/r/:id/inspect">{({ id }) => <Inspector key={id} id={id} />}</Route>
            <Route path="/approvals">
              <Approvals />
            </Route>
            <Route path="/agents">
              <Agents />
            </Route>
            <Route path="/agents/:name">{({ name }) => <AgentPage key={name} name={decodeURIComponent(name)} />}</Route>
            <Route path="/budgets">
              <Budgets />
            </Route>
            <Route path="/accounts">
              <Accounts />
            </Route>
            <Route path="/allowances">
              <Allowances />
            </Route>
            <Route path="/notes">
              <Notes />
            </Route>
            <Route path="/usage">
              <Usage />
            </Route>
            <Route path="/keys">
              <Access />
            </Route>
            <Route>
              <Notice
                title="There is nothing here"
                action={
                  <Link className="button" href="/">
                    Begin a conversation
                  </Link>
                }
              >
                <p>The address leads nowhere.</p>
              </Notice>
            </Route>
          </Switch>
        </Suspense>
      </main>
    </div>
  );
}
