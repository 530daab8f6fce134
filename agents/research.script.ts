// Authored decisions for the researcher, so that it can be tried without a model or a key: it reads the addresses in a
// question, or looks a word up in the documentation of this program.
import type { Reply, ScriptView } from '../src/adapters/models/script.ts';

type Result = ScriptView['results'][number];

const HELP =
  'I read addresses (put one into your question) and look up words of this program ("What is a verdict?"). With a model I ' +
  'do more: set a key, and BRAVE_API_KEY to search the web.';

/** Reads what the question names, then says what stands there and where. */
export function script(view: ScriptView): Reply {
  return view.results.length === 0 ? begin(view.userText) : answer(view);
}

function begin(text: string): Reply {
  const [, remembered] = /^\s*remember(?: that)?\s+(.+)/is.exec(text) ?? [];
  if (remembered !== undefined) return { actions: [{ name: 'note_save', arguments: { text: remembered } }] };
  const addresses = text.match(/https?:\/\/[^\s<>"')\]]+/g) ?? [];
  if (addresses.length === 0) {
    return { actions: [{ name: 'document_read', arguments: { name: 'vocabulary.md', limit: 40_000 } }] };
  }
  const items = addresses.map((url) => ({ text: `Read ${url}`, status: 'doing' }));
  return {
    actions: [
      { name: 'todo_write', arguments: { items } },
      ...addresses.map((url) => ({ name: 'web_fetch', arguments: { url, limit: 2_000 } })),
    ],
  };
}

function answer({ results, userText }: ScriptView): Reply {
  const said = results.flatMap((one) => {
    if (one.name === 'todo_write') return [];
    return one.observation.outcome === 'ok' ? [report(one, userText)] : [refusal(one)];
  });
  return { text: said.join('\n\n') };
}

function refusal({ observation: { outcome, error } }: Result): string {
  return `I could not: ${error?.message ?? outcome}`;
}

function report({ name, observation }: Result, question: string): string {
  const { value, content } = observation;
  const text = content?.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') ?? '';
  switch (name) {
    case 'web_fetch': {
      const title = field(value, 'title') || field(value, 'url');
      return `${firstSentences(text)} ([${title}](${field(value, 'url')}))`;
    }
    case 'document_read':
      return lookedUp(text, question);
    case 'note_save':
      return 'I will remember that.';
    default:
      return HELP;
  }
}

/** The rows of the vocabulary whose word stands in the question. */
function lookedUp(text: string, question: string): string {
  const rows = [...text.matchAll(/^\| \*\*(.+?)\*\* \| (.+?) \|/gm)];
  const asked = ` ${question.toLowerCase().replace(/[^a-z ]+/g, ' ')} `;
  const found = rows.filter(([, word = '']) => asked.includes(` ${word.toLowerCase()} `));
  if (found.length === 0) return HELP;
  return `${found.map(([, word = '', meaning = '']) => `**${word}**: ${meaning}.`).join('\n\n')}\n\nSource: vocabulary.md`;
}

function firstSentences(text: string): string {
  const plain = text
    .replace(/^#+ .*$/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
  return /^.{20,400}?[.!?](?= |$)/.exec(plain)?.[0] ?? plain.slice(0, 400);
}

function field(value: unknown, name: string): string {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof found === 'string' ? found : '';
}
