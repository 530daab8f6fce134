// Authored decisions of a clerk who does whatever he is told, so that the gates have something to do.
import type { Reply, ScriptView } from '../src/adapters/models/script.ts';

const HELP =
  'I mail ("mail bo@example.org hello"), order ("order 5 boxes"), read ("read the strange page") and wait for the slow machine.';

export function script(view: ScriptView): Reply {
  const [result] = view.results;
  if (result === undefined) return begin(view);
  const { outcome, value, content, error } = result.observation;
  const parts = (content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join(' ');
  const said = [value === undefined ? '' : JSON.stringify(value), parts].filter((one) => one !== '').join(' ');
  if (outcome === 'ok') return { text: `Done: ${said}` };
  return { text: `It was not done: ${error?.message ?? outcome}${said === '' ? '' : ` (${said})`}` };
}

function begin({ userText, step }: ScriptView): Reply {
  const [, to, text] = /\bmail (\S+@\S+) ?(.*)/is.exec(userText) ?? [];
  if (to !== undefined) return use('mail', { to, text: text || 'Hello.' });
  const boxes = /\border (\d{1,6})/i.exec(userText)?.[1];
  if (boxes !== undefined) return use('order', { boxes: Number(boxes) });
  if (/\bread\b.*\b(?:strange|key)\b/i.test(userText))
    return use('read', { page: userText.includes('strange') ? 'strange' : 'key' });
  if (/\bread\b/i.test(userText)) return use('read', { page: 'plain' });
  if (/\bmachine\b/i.test(userText)) return use('machine', {});
  if (/\bpurge\b/i.test(userText)) return use('purge', {});
  if (/\bproject\b/i.test(userText))
    return { text: step === 0 ? 'Project Nightjar is on.' : 'I do not speak of that project.' };
  if (/\blong\b/i.test(userText)) return { text: step === 0 ? 'A long answer. '.repeat(40) : 'A short answer.' };
  return { text: HELP };
}

function use(name: string, given: Readonly<Record<string, string | number>>): Reply {
  return { actions: [{ name, arguments: { ...given } }] };
}
