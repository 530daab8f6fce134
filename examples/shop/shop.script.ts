// What a model might decide, written down: a function of what it would see.
import type { Reply, ScriptView } from '../../src/adapters/models/script.ts';

export function script({ userText, results: [result] }: ScriptView): Reply {
  if (result === undefined) return use('look_up', { article: 'candles' });
  const { outcome, value, error } = result.observation;
  const { boxes, number } = (value ?? {}) as { boxes?: number; number?: string }; // what the two tools return
  if (result.name === 'look_up') {
    if (/order/i.test(userText)) return use('order', { article: 'candles', boxes: 4 });
    return { text: `There are ${boxes ?? 0} boxes of candles left.`, chunks: 9 };
  }
  if (outcome === 'ok') return { text: `Ordered ${boxes ?? 0} boxes of candles, number ${number ?? ''}.` };
  if (outcome === 'unknown') return { text: 'I cannot tell whether the order went out. Please ask the supplier.' };
  if (error?.code === 'order_cap') return use('order', { article: 'candles', boxes: 3 });
  return { text: `I did not order: ${error?.message ?? outcome}` };
}

function use(name: string, given: Readonly<Record<string, string | number>>): Reply {
  return { actions: [{ name, arguments: given }] };
}
