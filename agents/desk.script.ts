// Authored decisions for the desk, so that approvals and questions can be tried without a model, a key or a network.
import type { Reply, ScriptView } from '../src/adapters/models/script.ts';

type Result = ScriptView['results'][number];

const HELP =
  'I can keep notes ("note: call Bo"), work out sums ("12.5 * 4") and tell the time ("what time is it in Tokyo?").';

const ZONES: readonly (readonly [place: RegExp, zone: string])[] = [
  [/berlin|germany/i, 'Europe/Berlin'],
  [/london|england/i, 'Europe/London'],
  [/new york/i, 'America/New_York'],
  [/tokyo|japan/i, 'Asia/Tokyo'],
  [/\butc\b/i, 'UTC'],
];

/** Finds out what is wanted, uses one tool for it, and says what came of it. */
export function script(view: ScriptView): Reply {
  const [result] = view.results;
  return result === undefined ? begin(view.userText) : goOn(result, view);
}

function begin(text: string): Reply {
  if (/\b(read|show|list)\b.*\bnotes\b|\bmy notes\b/i.test(text)) return use('read_notes', {});
  if (wantsNote(text)) {
    const words = /\b(?:note|remember|write down)\b(?:\s+that\b)?[\s:,]*(.*)$/is.exec(text)?.[1]?.trim() ?? '';
    return words === '' ? use('ask_user', { question: 'What should the note say?' }) : use('add_note', { text: words });
  }
  if (/\b(time|clock)\b/i.test(text)) {
    const zone = ZONES.find(([place]) => place.test(text))?.[1];
    if (zone !== undefined) return use('time_now', { zone });
    return use('ask_user', { question: 'In which time zone?', choices: ZONES.map(([, name]) => name) });
  }
  const expression = /[(\d.-][\d\s.+*/^%()×÷-]*[\d)]/.exec(text)?.[0];
  if (expression !== undefined && /\d\s*[+*/^%×÷-]/.test(expression)) return use('calculate', { expression });
  return { text: HELP };
}

function goOn({ name, observation }: Result, view: ScriptView): Reply {
  const { outcome, value, error } = observation;
  if (outcome !== 'ok') return { text: `I did not do that: ${error?.message ?? outcome}` };
  switch (name) {
    case 'ask_user': {
      const answer = field(value, 'answer');
      return wantsNote(view.userText) ? use('add_note', { text: answer }) : use('time_now', { zone: answer });
    }
    case 'add_note':
      return { text: `Noted, in ${field(value, 'file')}.` };
    case 'read_notes':
      return { text: field(value, 'notes') || 'There are no notes yet.' };
    case 'calculate': {
      const expression = field(view.actions[0]?.arguments, 'expression');
      return { text: `${expression} = ${field(value, 'value')}` };
    }
    case 'time_now':
      return { text: `It is ${field(value, 'local')} in ${field(value, 'zone')}, a ${field(value, 'weekday')}.` };
    default:
      return { text: HELP };
  }
}

function wantsNote(text: string): boolean {
  return /\b(note|remember|write down)\b/i.test(text);
}

function use(name: string, given: Readonly<Record<string, string | readonly string[]>>): Reply {
  return { actions: [{ name, arguments: given }] };
}

function field(value: unknown, name: string): string {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof found === 'string' ? found : '';
}
