// The script, told by Treadle's own scripted model: each answer takes 50 ms, and a long text comes a word at a time.
import type { Reply, ScriptView } from '../../src/index.ts';
import { decide } from './decide.ts';

export function script({ request }: ScriptView): Reply {
  const said = decide(request.messages);
  if ('calls' in said) {
    const actions = said.calls.map((call) => ({ name: 'calculate_exposure', id: call.id, arguments: call.arguments }));
    return { actions, delayMs: 50 };
  }
  const text = said.text.join('');
  return said.text.length === 1 ? { text, delayMs: 50 } : { text, chunks: [...said.text], delayMs: 500, paceMs: 1 };
}
