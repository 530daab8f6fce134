import { createInterface, type Interface } from 'node:readline';
import { fit, widthOf } from './text.ts';
import type { Terminal } from './terminal.ts';

/** Where a conversation is written to. */
export interface Screen {
  /** Adds to what was written. May end in mid-line. */
  write(text: string): void;
  /** Lines of their own. Nothing when there are none. */
  lines(...lines: readonly string[]): void;
  /** What goes on right now, below everything else; undefined takes it away. Does nothing where nobody watches. */
  status(line: string | undefined): void;
}

/** What comes from the keyboard. */
export interface Keyboard {
  /** Lines that come together, as a paste does, and lines that end in a backslash are one text with the next. */
  line(text: string, prompt: string): void;
  /** Ctrl-C. */
  interrupt(): void;
  /** Ctrl-D, or the terminal is gone. */
  end(): void;
}

export interface LiveScreen extends Screen {
  /** What stands before the line that is being typed. `draft` is put there for the person to change. */
  prompt(prompt: string, draft?: string): void;
  /** Lines that stay above the prompt until others take their place, such as messages that nobody has read yet. */
  pin(lines: readonly string[]): void;
  /** Whether what is typed now is kept for the arrow keys. */
  remember(on: boolean): void;
  /** Clears what is typed. False when there was nothing. */
  clearLine(): boolean;
  close(): void;
}

/**
 * A terminal in which one types below while the conversation grows above.
 *
 * The last line typed, the status and an unfinished line of text are drawn anew at every change; what is finished is
 * written once and belongs to the terminal, with its scrolling, its selection and its search.
 */
export function createLiveScreen(terminal: Terminal, keyboard: Keyboard, commands: readonly string[]): LiveScreen {
  const { out, input } = terminal;
  const reader: Interface = createInterface({
    input,
    output: out,
    terminal: true,
    historySize: 500,
    removeHistoryDuplicates: true,
    completer: (line: string) => [line.startsWith('/') ? commands.filter((one) => one.startsWith(line)) : [], line],
  });
  /** A terminal that does not know how wide it is says 0. */
  const columns = (): number => (out.columns > 0 ? out.columns : 80);
  let prompt = '';
  let tail = '';
  let status: string | undefined;
  let pinned: readonly string[] = [];
  /** Lines that came while a line of text was unfinished. */
  const deferred: string[] = [];
  /** Rows drawn above the prompt that will be drawn anew. */
  let rows = 0;
  let isClosed = false;
  let remembers = true;
  /** Lines that wait for the rest of their text. */
  let held: string[] = [];
  let isGathering = false;

  /** Back to the first row that is drawn anew, and everything from there on wiped out. */
  function erase(rowsTyped: number): string {
    const up = rows + rowsTyped;
    rows = 0;
    return `\r${up > 0 ? `\x1b[${up}A` : ''}\x1b[J`;
  }

  function live(): string {
    const lines: string[] = [];
    if (tail !== '') lines.push(tail);
    if (status !== undefined) lines.push(...(tail === '' ? [] : ['']), status);
    lines.push(...pinned.map((line) => fitStatus(line, columns())));
    for (const line of held) lines.push(fitStatus(`${prompt}${line}`, columns()));
    rows = lines.length;
    return lines.map((line) => `${line}\n`).join('');
  }

  function draw(finished = '', rowsTyped = reader.getCursorPos().rows): void {
    if (isClosed) return void out.write(finished);
    // One write, or the eye sees the erased screen in between.
    out.cork();
    out.write(erase(rowsTyped) + finished + live());
    // readline would climb as many rows as the line had when it last drew it; the cursor is at its first row already.
    Reflect.set(reader, 'prevRows', 0);
    reader.prompt(true);
    out.uncork();
  }

  reader.on('line', (typed) => {
    const rowsTyped = Math.floor(widthOf(prompt + typed) / columns()) + 1;
    out.write(erase(rowsTyped));
    held.push(typed);
    // More lines of the same paste come in this tick, and its last one may still wait for the Enter key.
    if (isGathering) return;
    isGathering = true;
    setImmediate(() => {
      isGathering = false;
      if (reader.line !== '' || held.at(-1)?.endsWith('\\') === true) draw('', 0);
      else send();
    });
  });

  function send(): void {
    const text = held.map((line) => line.replace(/\\$/, '')).join('\n');
    held = [];
    keyboard.line(text, prompt);
    draw('', 0);
  }

  reader.on('SIGINT', () => keyboard.interrupt());
  reader.on('close', () => {
    if (isClosed) return;
    finish(0);
    keyboard.end();
  });
  reader.on('history', (history) => {
    if (!remembers) history.shift();
  });
  const resized = (): void => draw();
  out.on('resize', resized);

  /** The prompt goes, and what was unfinished is left as it is. */
  function finish(rowsTyped: number): void {
    isClosed = true;
    out.off('resize', resized);
    const rest = [...(tail === '' ? [] : [tail]), ...deferred, ...pinned];
    out.write(erase(rowsTyped) + rest.map((line) => `${line}\n`).join(''));
  }

  return {
    write(text) {
      if (text === '') return;
      const whole = (tail + text).split('\n');
      tail = whole.pop() ?? '';
      if (tail === '') whole.push(...deferred.splice(0));
      draw(whole.map((line) => `${line}\n`).join(''));
    },
    lines(...lines) {
      if (tail !== '') deferred.push(...lines);
      else if (lines.length > 0) draw(lines.map((line) => `${line}\n`).join(''));
    },
    pin(lines) {
      pinned = lines;
      draw();
    },
    status(line) {
      const shown = line === undefined ? undefined : fitStatus(line, columns());
      if (shown === status) return;
      status = shown;
      draw();
    },
    prompt(text, draft = '') {
      prompt = text;
      reader.setPrompt(text);
      draw();
      if (draft !== '') reader.write(draft);
    },
    remember(on) {
      remembers = on;
    },
    clearLine() {
      if (reader.line === '') return false;
      reader.write(null, { ctrl: true, name: 'e' });
      reader.write(null, { ctrl: true, name: 'u' });
      return true;
    },
    close() {
      if (isClosed) return;
      finish(reader.getCursorPos().rows);
      reader.close();
    },
  };
}

/** A status that wrapped would leave its second row behind. Its colours are lost when it is cut. */
function fitStatus(line: string, columns: number): string {
  return widthOf(line) < columns ? line : fit(line.replace(/\x1b\[[\d;]*m/g, ''), Math.max(0, columns - 1));
}

/** Streams for pipes and plain terminals: what is written stays, and there is no status. */
export function createPlainScreen(stream: NodeJS.WritableStream): Screen {
  let isMidLine = false;
  const write = (text: string): void => {
    if (text === '') return;
    isMidLine = !text.endsWith('\n');
    stream.write(text);
  };
  return {
    write,
    lines(...lines) {
      if (lines.length === 0) return;
      write((isMidLine ? '\n' : '') + lines.map((line) => `${line}\n`).join(''));
    },
    status: () => undefined,
  };
}
