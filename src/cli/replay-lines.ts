import type { ComparedCall, ComparedEnd, ReplayReport, TurnEnd } from '../platform/replay/report.ts';
import type { Colors } from './terminal.ts';
import { counted, harmless, oneLine, wrap } from './text.ts';

interface Look {
  readonly colors: Colors;
  readonly columns: number;
}

/** Lines of a changed text that are printed; `--json` has all of them. */
const MOST_LINES = 12;

/** What a replay found, for reading: what is the same in a line, what is not in full. */
export function replayLines(report: ReplayReport, bundle: string | undefined, look: Look): readonly string[] {
  const { colors, columns } = look;
  const { run, calls, actions, verdicts, ended, beyond, notes } = report;
  const under = report.rules === 'recorded' ? 'as it was' : `under ${bundle ?? 'another bundle'}`;
  const other = calls.filter((one) => !one.same);
  const lines = [colors.bold(oneLine(`${run}, replayed ${under}`, columns)), ''];
  lines.push(
    report.same
      ? `${colors.green('✓')} Nothing is different: ${counted(calls.length, 'model call')}, ${counted(ended.length, 'turn')}.`
      : `${colors.yellow('≠')} ${other.length} of ${counted(calls.length, 'model call')} would ask for something else.`,
  );
  const told = new Map<string, number>();
  for (const call of other) lines.push('', ...callLines(call, told, look));
  if (actions.length > 0) lines.push('', colors.bold('Actions'));
  for (const { action, name, before, after } of actions)
    lines.push(
      `  ${harmless(name)} ${colors.dim(action)}`,
      ...twoWays(before ?? 'not asked for', after ?? 'not asked for', look),
    );
  if (verdicts.length > 0) lines.push('', colors.bold('Gates say'));
  for (const { turn, question, action, before, after } of verdicts)
    lines.push(
      `  ${question}${action === undefined ? ` in turn ${turn}` : ` ${action}`}`,
      ...twoWays(before ?? 'nothing', after ?? 'nothing', look),
    );
  const others = ended.filter((one) => !one.same);
  if (others.length > 0) lines.push('', colors.bold('Ends'));
  for (const end of others) lines.push(...endLines(end, look));
  if (beyond !== undefined)
    lines.push(
      '',
      ...wrap(
        `In turn ${beyond.turn} the model would be called once more (iteration ${beyond.iteration}). Of that the log has no answer, so the replay ends there.`,
        { columns },
      ),
    );
  for (const note of notes) lines.push('', ...wrap(harmless(note), { columns, first: '· ', rest: '  ' }));
  return lines;
}

/** `told`: what was said of another call, and of which. A tool's description is not for people. */
function callLines(
  { n, turn, iteration, attempt, differences }: ComparedCall,
  told: Map<string, number>,
  look: Look,
): readonly string[] {
  const which = `turn ${turn}, iteration ${iteration}${attempt > 1 ? `, attempt ${attempt}` : ''}`;
  const lines = [`${look.colors.bold(`Call ${n}`)} ${look.colors.dim(which)}`];
  for (const { section, what, before, after } of differences) {
    const key = JSON.stringify([section, before, after]);
    const first = told.get(key);
    if (first === undefined) told.set(key, n);
    const isText = first === undefined && section !== 'call' && section !== 'tools';
    lines.push(...wrap(harmless(`${section}: ${what}`), { columns: look.columns, first: '  ', rest: '    ' }));
    if (first !== undefined) lines.push(look.colors.dim(`    as in call ${first}`));
    if (isText) lines.push(...twoWays(before, after, look));
  }
  return lines;
}

function endLines({ turn, before, after }: ComparedEnd, look: Look): readonly string[] {
  return [`  turn ${turn}`, ...twoWays(inWords(before), inWords(after), look)];
}

function inWords(end: TurnEnd | undefined): string {
  if (end === undefined) return 'has not ended';
  const { status, stop, code, message, answer } = end;
  const why = message === undefined ? '' : `: ${message}${code === undefined ? '' : ` (${code})`}`;
  return `${status} (${stop})${why}${answer === undefined ? '' : `\n${answer}`}`;
}

function twoWays(before: string, after: string, look: Look): readonly string[] {
  return [...marked('-', before, look.colors.red, look), ...marked('+', after, look.colors.green, look)];
}

function marked(mark: string, text: string, colour: (text: string) => string, { columns }: Look): readonly string[] {
  const lines = text === '' ? [] : wrap(harmless(text), { columns, first: `    ${mark} ` });
  const shown =
    lines.length > MOST_LINES
      ? [...lines.slice(0, MOST_LINES), `    ${mark} … ${lines.length - MOST_LINES} more lines`]
      : lines;
  return shown.map((line) => colour(line));
}
