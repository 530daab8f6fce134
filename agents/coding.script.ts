// Authored decisions for the programmer, so that files, commands and approvals can be tried without a model or a key: it
// makes one change that it is told, and runs the tests before and after.
import type { Reply, ScriptView } from '../src/adapters/models/script.ts';

type Result = ScriptView['results'][number];

const HELP =
  'Without a model I can list what is here, find a text (where is `x`?), and make one change that you name: ' +
  'the tests fail: `a - b` should be `a + b`.';

const TESTS = { command: 'node --test' };

/** Looks, changes and tests, one step after the other, each by what the one before has shown. */
export function script(view: ScriptView): Reply {
  const change = /`([^`]+)`\s+(?:should|must|has to)\s+be\s+`([^`]+)`/i.exec(view.userText);
  if (change !== null) return mend(ofTurn(view), { from: change[1] ?? '', to: change[2] ?? '' });
  const [sought] = /`([^`]+)`/.exec(view.userText)?.slice(1) ?? [];
  if (sought !== undefined) return tell(view.results, 'files_grep', { pattern: sought, literal: true });
  if (/\b(what|list|show|here)\b/i.test(view.userText))
    return tell(view.results, 'files_find', { glob: '*', limit: 50 });
  return { text: HELP };
}

function tell(
  [result]: readonly Result[],
  name: string,
  given: Readonly<Record<string, string | number | boolean>>,
): Reply {
  if (result === undefined) return use(name, given);
  const text = textOf(result);
  return { text: text === '' ? 'There is nothing like that.' : text };
}

function mend(results: readonly Result[], { from, to }: { readonly from: string; readonly to: string }): Reply {
  const last = results.at(-1);
  if (last === undefined) return use('shell_run', TESTS);
  const { outcome, error } = last.observation;
  if (outcome !== 'ok') return { text: `I stopped: ${error?.message ?? outcome}` };
  const ran = results.filter(({ name }) => name === 'shell_run').length;
  switch (last.name) {
    case 'shell_run':
      if (ran > 1) return report(results, from, to);
      if (field(last, 'exit_code') === 0) return { text: 'The tests pass as they are. I changed nothing.' };
      return use('files_grep', { pattern: from, literal: true });
    case 'files_grep': {
      const [, path] = /^([^:\n]+):\d+: /.exec(textOf(last)) ?? [];
      return path === undefined ? { text: `Nothing here says \`${from}\`.` } : use('files_read', { path });
    }
    case 'files_read':
      return use('files_edit', { path: field(last, 'path'), edits: [{ old_text: from, new_text: to }] });
    case 'files_edit':
      return use('shell_run', TESTS);
    default:
      return { text: HELP };
  }
}

function report(results: readonly Result[], from: string, to: string): Reply {
  const edit = results.find(({ name }) => name === 'files_edit');
  const last = results.at(-1);
  const where = edit === undefined ? 'nowhere' : String(field(edit, 'path'));
  const passes = last !== undefined && field(last, 'exit_code') === 0;
  return {
    text: `${where}: \`${from}\` is \`${to}\` now. The tests failed before; ${passes ? 'they pass' : 'they still fail'} now.`,
  };
}

/** All that came of actions since the person spoke. */
function ofTurn({ request }: ScriptView): readonly Result[] {
  const from = request.messages.findLastIndex(({ role, ...rest }) => role === 'user' && !('synthetic' in rest));
  return request.messages.slice(from + 1).flatMap((message) => (message.role === 'tool' ? message.results : []));
}

function use(name: string, given: Readonly<Record<string, unknown>>): Reply {
  return { actions: [{ name, arguments: given as never }] };
}

function textOf({ observation }: Result): string {
  return (observation.content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function field({ observation: { value } }: Result, name: string): string | number | undefined {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof found === 'string' || typeof found === 'number' ? found : undefined;
}
