import { systemClock } from '../base/clock.ts';
import type { EntryOf } from '../domain/entry.ts';
import type { EventOf, TreadleEvent } from '../domain/event.ts';
import { emptyTimeline, entriesOf, entriesSince, project, type Timeline } from '../domain/timeline.ts';
import { actionCard } from './action-card.ts';
import { planLines } from './plan-lines.ts';
import { createProse, type Prose } from './prose.ts';
import type { Screen } from './screen.ts';
import type { Colors } from './terminal.ts';
import { endInWords, endLine } from './turn-end.ts';
import { oneLine, wrap } from './text.ts';

export interface TurnViewOptions {
  readonly screen: Screen;
  readonly colors: Colors;
  readonly columns: () => number;
  /** False where the answer, and how the turn ended, are told in another place. */
  readonly showsAnswer?: boolean;
  /** Called with what happens while somebody waits, such as `thinking`; undefined when nobody does. */
  readonly onPhase: (phase: Phase | undefined) => void;
}

/** What goes on, and since when. */
export interface Phase {
  readonly text: string;
  readonly since: number;
}

const INDENT = '  ';

/** Writes one conversation to a screen while it happens: the model's words as they come, actions when they are done. */
export class TurnView {
  readonly #options: TurnViewOptions;
  #timeline: Timeline;
  #prose: Prose | undefined;
  /** What the model has said of the answer in work, as it was streamed. */
  #streamed = '';
  #phase: Phase | undefined;
  /** A plan that was made and is not shown yet. */
  #made: EntryOf<'plan'> | undefined;
  #hasSpace = true;

  constructor(options: TurnViewOptions, timeline: Timeline = emptyTimeline) {
    this.#options = options;
    this.#timeline = timeline;
  }

  get timeline(): Timeline {
    return this.#timeline;
  }

  hear(event: TreadleEvent): void {
    switch (event.type) {
      case 'llm.stream.chunk': {
        this.#chunk(event);
        return;
      }
      case 'llm.stream.end':
        return; // `llm.response` says what came of it
      case 'io.status': {
        this.#status(event);
        return;
      }
      case 'tool.progress': {
        const { text, fraction } = event.payload;
        const done = fraction === undefined ? '' : `${Math.round(fraction * 100)} %`;
        const said = [done, text].filter((one) => one !== undefined && one !== '').join(' ');
        if (this.#phase !== undefined && said !== '')
          this.#setPhase({ ...this.#phase, text: `${this.#phase.text.split(' · ')[0] ?? ''} · ${said}` });
        return;
      }
      default: {
        if (event.seq <= this.#timeline.head) return; // delivered before, as by another process's drive
        this.#showPlan(event);
        const before = this.#timeline.head;
        this.#timeline = project(this.#timeline, event);
        const changed = entriesSince(this.#timeline, before);
        const plan = changed.find((entry) => entry.role === 'plan');
        // An action that kept the plan has changed it, too: the plan shows what came of it.
        for (const entry of event.type === 'tool.result' && plan !== undefined ? [plan] : changed)
          this.#show(entry, event);
      }
    }
  }

  /** A blank line, unless there is one. */
  space(): void {
    this.#endProse();
    if (!this.#hasSpace) this.#options.screen.lines('');
    this.#hasSpace = true;
  }

  /** Somebody else has written something. */
  wrote(): void {
    this.#hasSpace = false;
  }

  #show(entry: ReturnType<typeof entriesSince>[number], { type }: TreadleEvent): void {
    switch (entry.role) {
      case 'thinking': {
        this.#thought(entry.text);
        return;
      }
      case 'assistant': {
        this.#speech(entry);
        return;
      }
      case 'action':
        if (type === 'tool.result')
          this.#lines(...actionCard(entry.data, this.#options.colors, this.#options.columns()));
        return;
      case 'plan':
        // Made, or kept by an action; an answer about it is known to who gave it.
        if (type === 'plan.result') this.#made = entry;
        else if (type === 'tool.result') this.#plan(entry);
        return;
      case 'notice':
        if (type === 'hitl.responded' || type === 'hitl.cancel' || entry.data.kind === 'cancel') return;
        {
          this.#notice(entry.text);
          return;
        }
      case 'call':
        if (type === 'llm.response') this.#attempt(entry);
        return;
      case 'end': {
        this.#end(entry);
        return;
      }
      case 'user':
        return;
    }
  }

  #chunk({ payload: { kind, delta } }: EventOf<'llm.stream.chunk'>): void {
    if (kind !== 'text' || delta === '' || this.#options.showsAnswer === false) return;
    if (this.#prose === undefined) {
      this.space();
      this.#prose = createProse({ columns: this.#options.columns(), indent: INDENT, colors: this.#options.colors });
      this.#setPhase({ text: 'answering', since: this.#phase?.since ?? systemClock.now() });
    }
    this.#streamed += delta;
    this.#hasSpace = false;
    this.#options.screen.write(this.#prose.write(delta));
  }

  #speech({ text, data }: EntryOf<'assistant'>): void {
    const { screen, colors, columns, showsAnswer } = this.#options;
    if (showsAnswer === false && data.final) return;
    if (data.cut === true) return; // it stands above as it came
    const isShown = this.#streamed.trim() === text.trim();
    this.#endProse();
    if (!isShown && data.final && this.#streamed !== '') this.#notice('A gate changed the answer:');
    this.#streamed = '';
    if (isShown) return;
    this.space();
    const flow = createProse({ columns: columns(), indent: INDENT, colors });
    screen.lines(flow.write(text.trimEnd()) + flow.end());
    this.#hasSpace = false;
  }

  #endProse(): void {
    if (this.#prose === undefined) return;
    this.#options.screen.write(`${this.#prose.end()}\n`);
    this.#prose = undefined;
  }

  #thought(text: string): void {
    if (text.trim() === '') return;
    const { colors, columns } = this.#options;
    this.#lines(colors.dim(`${INDENT}∴ ${oneLine(text, columns() - 4)}`));
  }

  /** A plan that was made, unless it is what a person is asked about now: that shows it, too. */
  #showPlan({ type }: TreadleEvent): void {
    const made = this.#made;
    this.#made = undefined;
    if (made !== undefined && type !== 'hitl.requested') this.#plan(made);
  }

  #plan({ text, data }: EntryOf<'plan'>): void {
    const { colors, columns } = this.#options;
    this.space();
    this.#lines(`${INDENT}${colors.bold(oneLine(text, columns() - 2))}`, ...planLines(data.steps, colors, columns()));
  }

  /** An attempt that failed. What was shown of it cannot be taken back, so it is said that it does not count. */
  #attempt({ data: { attempts } }: EntryOf<'call'>): void {
    const last = attempts.at(-1);
    if (last?.failure === undefined) return;
    const wasShown = this.#streamed !== '';
    this.#endProse();
    this.#streamed = '';
    const { colors } = this.#options;
    if (last.failure.class === 'aborted') {
      if (wasShown) this.#lines(colors.dim(`${INDENT}… interrupted`));
      return;
    }
    const revoked = wasShown ? ' What stands above does not count.' : '';
    this.#notice(`${last.provider} ${last.model} did not answer: ${last.failure.message}${revoked}`);
  }

  #notice(text: string): void {
    const { colors, columns } = this.#options;
    this.#lines(
      ...wrap(text, { columns: columns(), first: `${INDENT}! `, rest: `${INDENT}  ` }).map((line) =>
        colors.yellow(line),
      ),
    );
  }

  #end(entry: EntryOf<'end'>): void {
    const { colors, columns } = this.#options;
    this.#endProse();
    this.#streamed = '';
    this.#setPhase(undefined);
    if (this.#options.showsAnswer === false) return;
    const trouble = endInWords(entry.data, 'chat');
    if (trouble !== undefined) {
      this.space();
      const [first = '', ...rest] = wrap(trouble, { columns: columns(), first: INDENT, rest: INDENT });
      this.#lines(colors.red(first), ...rest.map((line) => colors.red(line)));
    }
    this.space();
    const line = endLine(entry, entriesOf(this.#timeline));
    this.#lines(...wrap(line, { columns: columns(), first: INDENT }).map((one) => colors.dim(one)));
  }

  #status({ at, payload: { state, detail } }: EventOf<'io.status'>): void {
    switch (state) {
      case 'thinking': {
        this.#setPhase({ text: 'thinking', since: at });
        return;
      }
      case 'tool_running': {
        this.#setPhase({ text: detail ?? 'working', since: at });
        return;
      }
      case 'waiting': {
        this.#setPhase(detail === undefined ? undefined : { text: detail, since: at });
        return;
      }
      case 'idle': {
        this.#setPhase(undefined);
        return;
      }
    }
  }

  #setPhase(phase: Phase | undefined): void {
    this.#phase = phase;
    this.#options.onPhase(phase);
  }

  #lines(...lines: readonly string[]): void {
    this.#endProse();
    this.#options.screen.lines(...lines);
    this.#hasSpace = lines.at(-1) === '';
  }
}
