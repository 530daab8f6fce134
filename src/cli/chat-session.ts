import { commandName } from './command-name.ts';
import { systemClock } from '../base/clock.ts';
import type { Conversation } from '../domain/conversation.ts';
import { emptyTimeline, project } from '../domain/timeline.ts';
import type { Message } from '../platform/conversations.ts';
import type { Platform } from '../platform/platform.ts';
import { didYouMean } from '../platform/bundle/problems.ts';
import { askRequests } from './approval.ts';
import { CHAT_COMMANDS, readTyped, type ChatCommandName } from './chat-commands.ts';
import type { Outcome } from './exit-codes.ts';
import { headerLines, modelInWords } from './header.ts';
import { findIn, helpPage, runsPage, storyPage } from './chat-pages.ts';
import { shortId } from './open.ts';
import { createProgress, type Progress } from './progress.ts';
import { errorLines } from './report-error.ts';
import { createLiveScreen, type LiveScreen } from './screen.ts';
import { onSignals } from './signals.ts';
import type { Terminal } from './terminal.ts';
import { harmless, oneLine, wrap } from './text.ts';
import { TurnView } from './turn-view.ts';

export interface ChatSessionOptions {
  readonly platform: Platform;
  readonly terminal: Terminal;
  readonly file: string | undefined;
  readonly agent: string;
  /** A run to go on with. */
  readonly id: string | undefined;
  /** Nothing outlives the session. */
  readonly memory: boolean;
}

const BY = 'local';

/** Talks until the person leaves. */
export function chatInTerminal(options: ChatSessionOptions): Promise<Outcome> {
  return new ChatSession(options).talk();
}

/** One person at a terminal and one conversation at a time: what is typed, what runs, what is asked. */
class ChatSession {
  readonly #options: ChatSessionOptions;
  readonly #screen: LiveScreen;
  readonly #progress: Progress;
  #id: string | undefined;
  #view: TurnView;
  #state: 'idle' | 'working' | 'asking' = 'idle';
  #isStopping = false;
  /** The turn that runs, and the one that Ctrl-C was meant for; undefined while it has not begun. */
  #turnId: string | undefined;
  #stoppedId: string | undefined;
  /** What was said while the agent worked and nobody has read yet. */
  #queued: readonly string[] = [];
  /** Takes the next line while something is asked. */
  #answer: ((typed: string | undefined) => void) | undefined;
  #leave: (outcome: Outcome) => void = () => undefined;

  constructor(options: ChatSessionOptions) {
    this.#options = options;
    this.#id = options.id;
    const keyboard = { line: this.#line.bind(this), interrupt: this.#interrupt.bind(this), end: this.#end.bind(this) };
    this.#screen = createLiveScreen(options.terminal, keyboard, Object.keys(CHAT_COMMANDS));
    const { colors } = options.terminal;
    this.#progress = createProgress(
      (line) => this.#screen.status(line === undefined ? undefined : colors.dim(line)),
      '  · Ctrl-C stops',
    );
    this.#view = this.#newView();
  }

  async talk(): Promise<Outcome> {
    const { platform, terminal, agent, file } = this.#options;
    const left = new Promise<Outcome>((resolve) => {
      this.#leave = resolve;
    });
    const offSignals = onSignals({ interrupt: () => this.#interrupt(), terminate: (outcome) => this.#leave(outcome) });
    const offBus = platform.bus.on('*', (event) => {
      if (event.conversationId !== this.#id) return;
      if (event.type === 'llm.request' || event.type === 'agent.turn.start') this.#release();
      if (event.type === 'agent.turn.start') this.#turnStarts(event.conversationId, event.turnId);
      if (event.type === 'agent.turn.end') this.#turnId = undefined;
      this.#view.hear(event);
    });
    try {
      this.#screen.lines(
        ...headerLines(platform, { colors: terminal.colors, columns: terminal.columns(), agent, file }),
      );
      this.#rest();
      if (this.#id !== undefined) this.#begin(() => this.#takeUp(this.#id ?? ''));
      const outcome = await left;
      this.#progress.stop();
      if (this.#state !== 'idle' && this.#id !== undefined && !this.#options.memory) {
        this.#say(`The run is kept as it is. Go on with: ${commandName()} chat --conversation ${shortId(this.#id)}`);
      }
      return outcome;
    } finally {
      offBus();
      offSignals();
      this.#screen.close();
    }
  }

  // ── What is typed ──────────────────────────────────────────────────────────────────────────────────────────────

  #line(text: string, prompt: string): void {
    const answer = this.#answer;
    if (answer !== undefined) {
      this.#screen.lines(...`${prompt}${harmless(text)}`.split('\n'));
      this.#answer = undefined;
      answer(text);
      return;
    }
    const typed = readTyped(text);
    switch (typed.type) {
      case 'nothing':
        return;
      case 'message':
        if (this.#state === 'working') this.#queue(text, { text: typed.text, mode: 'followup' });
        else {
          this.#echo(text);
          this.#begin(() => this.#turn(typed.text));
        }
        return;
      case 'command':
        if (typed.name !== '/steer' || this.#state !== 'working') this.#echo(text);
        this.#command(typed.name, typed.rest);
        return;
      case 'unknown': {
        const near = didYouMean(typed.name, Object.keys(CHAT_COMMANDS));
        this.#echo(text);
        this.#say(`There is no ${typed.name}; ${near === undefined ? '/help lists what there is.' : `${near}?`}`);
      }
    }
  }

  #command(name: ChatCommandName, rest: string): void {
    const needsRest = name === '/new' || name === '/resume';
    if (needsRest && this.#state !== 'idle') {
      this.#say('A turn is running. Ctrl-C stops it.');
      return;
    }
    switch (name) {
      case '/help':
        this.#help();
        return;
      case '/new':
        this.#id = undefined;
        this.#view = this.#newView();
        this.#say('A new conversation. The one before is kept: see /runs.');
        return;
      case '/steer':
        if (rest === '') this.#say('Say what should change: /steer TEXT');
        else if (this.#state === 'working') this.#queue(`/steer ${rest}`, { text: rest, mode: 'steer' });
        else this.#begin(() => this.#turn(rest));
        return;
      case '/model':
        this.#say(modelInWords(this.#options.platform, this.#options.agent));
        return;
      case '/quit':
        this.#leave('completed');
        return;
      case '/runs':
        this.#watch(this.#runs());
        return;
      case '/show':
        this.#watch(this.#show(rest));
        return;
      case '/resume':
        this.#begin(() => this.#resume(rest));
    }
  }

  #interrupt(): void {
    const answer = this.#answer;
    if (answer !== undefined) {
      this.#answer = undefined;
      this.#screen.clearLine();
      answer(undefined);
    } else if (this.#state === 'working') {
      if (this.#isStopping || this.#id === undefined) {
        this.#leave('interrupted');
        return;
      }
      this.#isStopping = true;
      this.#stoppedId = this.#turnId;
      this.#progress.phase({ text: 'stopping; Ctrl-C again leaves', since: systemClock.now() });
      this.#cancel(this.#id);
    } else if (!this.#screen.clearLine()) this.#leave('completed');
  }

  #cancel(id: string): void {
    this.#watch(this.#options.platform.conversations.cancel(id, BY, this.#stoppedId));
  }

  /** Only a turn can be cancelled: one that begins after Ctrl-C is cancelled then, and the one after it is not. */
  #turnStarts(id: string, turnId: string | undefined): void {
    this.#turnId = turnId;
    if (!this.#isStopping || this.#stoppedId === turnId) return;
    if (this.#stoppedId === undefined) {
      this.#stoppedId = turnId;
      this.#cancel(id);
    } else this.#isStopping = false;
  }

  #end(): void {
    this.#leave('completed');
  }

  // ── What runs ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** Work in the foreground: what is typed meanwhile goes to it. Whatever goes wrong is told, and the prompt comes back. */
  #begin(work: () => Promise<void>): void {
    this.#state = 'working';
    this.#isStopping = false;
    this.#turnId = undefined;
    this.#progress.phase({ text: 'starting', since: systemClock.now() });
    this.#screen.prompt(this.#prompt());
    const done = (): void => {
      this.#progress.phase(undefined);
      this.#rest();
    };
    work().then(done, (error: unknown) => {
      this.#fail(error);
      done();
    });
  }

  /** Each turn begins with the bundle as it is then. */
  async #lookForEdits(): Promise<void> {
    const { platform } = this.#options;
    const came = await platform.reload();
    if (came === 'new') this.#say('The bundle was edited: this turn begins with it as it is now.');
    if (came === 'kept' && platform.refusedEdit !== undefined)
      this.#say(
        `An edit of the bundle does not count yet. ${platform.refusedEdit.why} Do: ${platform.refusedEdit.hint}.`,
      );
  }

  async #turn(text: string): Promise<void> {
    await this.#lookForEdits();
    const { conversations } = this.#options.platform;
    this.#id ??= (await conversations.start({ agent: this.#options.agent })).id;
    const { turn } = await conversations.read(this.#id);
    // Said to a turn that waits for an answer, a message takes the answer's place.
    await conversations.say(this.#id, { text, mode: turn === undefined ? 'message' : 'steer' });
    await this.#drive(this.#id);
  }

  async #drive(id: string): Promise<void> {
    const { platform } = this.#options;
    for (;;) {
      const conversation = await platform.conversations.drive(id);
      await platform.bus.settled();
      if (conversation.turn === undefined) return;
      const asking = await platform.conversations.asking(id);
      if (asking.length === 0) return;
      for (const one of asking) {
        if (await this.#ask(one)) continue;
        this.#say('It still waits. /resume asks again; a message takes the place of the answer.');
        return;
      }
      this.#progress.phase({ text: 'going on', since: systemClock.now() });
    }
  }

  async #ask(conversation: Conversation): Promise<boolean> {
    const { terminal, platform } = this.#options;
    this.#progress.phase(undefined);
    this.#view.space();
    this.#state = 'asking';
    this.#screen.remember(false);
    try {
      const ask = (prompt: string, draft?: string): Promise<string | undefined> => {
        this.#screen.prompt(prompt, draft);
        return new Promise((resolve) => {
          this.#answer = resolve;
        });
      };
      return await askRequests(
        conversation,
        { screen: this.#screen, colors: terminal.colors, columns: terminal.columns, ask },
        platform.conversations,
        BY,
      );
    } finally {
      this.#state = 'working';
      this.#screen.remember(true);
      this.#screen.prompt(this.#prompt());
    }
  }

  /** Said while the agent works: shown as waiting until it is read. */
  #queue(typed: string, message: Message): void {
    if (this.#id === undefined) return;
    this.#queued = [...this.#queued, typed];
    this.#pin();
    this.#options.platform.conversations.say(this.#id, message).catch((error: unknown) => {
      this.#queued = this.#queued.filter((one) => one !== typed);
      this.#pin();
      this.#fail(error);
    });
  }

  #pin(): void {
    const { colors, columns } = this.#options.terminal;
    const note = '  · not read yet';
    this.#screen.pin(this.#queued.map((text) => colors.dim(`› ${oneLine(text, columns() - note.length - 2)}${note}`)));
  }

  /** The model reads what was queued: it becomes a part of what was said. */
  #release(): void {
    if (this.#queued.length === 0) return;
    const queued = this.#queued;
    this.#queued = [];
    this.#pin();
    this.#view.space();
    for (const text of queued) this.#echo(text);
    this.#view.space();
  }

  async #resume(named: string): Promise<void> {
    const { conversations } = this.#options.platform;
    const id = named === '' ? this.#id : (await findIn(conversations, named)).id;
    if (id === undefined) {
      this.#say('Nothing to resume yet. /runs lists what there is.');
      return;
    }
    if (id !== this.#id) {
      await this.#takeUp(id);
      return;
    }
    const { turn, turns } = await conversations.read(id);
    if (turn === undefined && turns.at(-1)?.end?.status !== 'stopped') {
      this.#say('This run has come to its end. Say something to begin a new turn.');
      return;
    }
    if (turn === undefined) await conversations.resume(id, BY);
    await this.#drive(id);
  }

  /** Shows a run from before and goes on where it is. */
  async #takeUp(id: string): Promise<void> {
    const { conversations } = this.#options.platform;
    let timeline = emptyTimeline;
    for await (const fact of conversations.facts(id)) timeline = project(timeline, fact);
    this.#id = id;
    this.#view = this.#newView(timeline);
    await this.#show('');
    const { turn, inbox } = await conversations.read(id);
    if (turn !== undefined || inbox.length > 0) await this.#drive(id);
  }

  // ── What is shown ──────────────────────────────────────────────────────────────────────────────────────────────

  #newView(timeline = emptyTimeline): TurnView {
    const { colors, columns } = this.#options.terminal;
    const onPhase = (phase: Parameters<Progress['phase']>[0]): void => {
      if (!this.#isStopping || phase === undefined) this.#progress.phase(phase);
    };
    return new TurnView({ screen: this.#screen, colors, columns, onPhase }, timeline);
  }

  #prompt(): string {
    const { colors } = this.#options.terminal;
    return this.#state === 'idle' ? colors.bold(colors.cyan('› ')) : colors.dim('› ');
  }

  #rest(): void {
    this.#state = 'idle';
    this.#view.space();
    this.#screen.prompt(this.#prompt());
  }

  #echo(text: string): void {
    const { colors, columns } = this.#options.terminal;
    const lines = wrap(harmless(text.trimEnd()), { columns: columns(), first: '› ', rest: '  ' });
    this.#screen.lines(...lines.map((line) => colors.cyan(line)));
    this.#view.wrote();
    if (this.#state === 'idle') this.#view.space();
  }

  #say(text: string): void {
    const { colors, columns } = this.#options.terminal;
    this.#screen.lines(...wrap(harmless(text), { columns: columns(), first: '  ' }).map((line) => colors.dim(line)));
    this.#view.wrote();
    if (this.#state === 'idle') this.#view.space();
  }

  #help(): void {
    this.#page(helpPage(this.#options.terminal));
  }

  async #runs(): Promise<void> {
    this.#page(await runsPage(this.#options.platform.conversations, this.#options.terminal));
  }

  async #show(named: string): Promise<void> {
    const { terminal, platform } = this.#options;
    if (named === '' && this.#id === undefined) this.#say('Nothing was said yet.');
    else this.#page(await storyPage(platform.conversations, named === '' ? (this.#id ?? '') : named, terminal));
  }

  #page(lines: readonly string[]): void {
    this.#screen.lines(...lines);
    this.#view.wrote();
    this.#view.space();
  }

  /** Work beside the turn, whose trouble is told and is nobody else's. */
  #watch(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): void {
    const { colors, columns } = this.#options.terminal;
    this.#view.space();
    this.#screen.lines(...errorLines(error, { colors, columns: columns(), debug: false }));
    this.#view.wrote();
  }
}
