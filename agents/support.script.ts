// Authored decisions for the support desk, so that its rules can be tried without a model, a key or a network.
import type { Reply, ScriptView } from '../src/adapters/models/script.ts';

type Result = ScriptView['results'][number];

const HELP =
  'I look up orders ("Where is order 1001?") and give money back ("Order 1002 came broken, give me 20 back").';

/** Finds the order, gives back what was asked for, and says what came of it. */
export function script(view: ScriptView): Reply {
  const text = view.userText;
  const [result] = view.results;
  if (result === undefined) return begin(text);
  const { name, observation } = result;
  if (observation.outcome !== 'ok')
    return { text: `I did not do that: ${observation.error?.message ?? observation.outcome}` };
  if (name === 'ask_user')
    return use('find_order', { order: orderIn(String(field(observation.value, 'answer'))) ?? '' });
  if (name === 'find_order') return found(result, text);
  if (name === 'refund')
    return { text: `I gave ${String(field(observation.value, 'amount'))} back for it. It is with you in two days.` };
  return { text: 'A person of the shop will write to you.' };
}

function begin(text: string): Reply {
  if (/\b(person|human|lawyer|somebody)\b/i.test(text)) return use('hand_over', { summary: text });
  const order = orderIn(text);
  if (order !== undefined) return use('find_order', { order });
  return /\border|back|refund/i.test(text)
    ? use('ask_user', { question: 'Which order is it? Four digits.' })
    : { text: HELP };
}

function found({ observation: { value } }: Result, text: string): Reply {
  // What was found reads like orders to a model, and was set aside.
  if (value === undefined)
    return use('hand_over', { summary: `I was not shown the order. The customer wrote: ${text}` });
  if (field(value, 'found') !== true) return { text: 'There is no order of this number.' };
  const order = String(field(value, 'id'));
  const amount = Number(/\b(\d{1,3}(?:\.\d\d?)?)\b(?! *g\b)/.exec(text.replaceAll(order, ''))?.[1] ?? Number.NaN);
  if (/\b(back|refund)\b/i.test(text) && amount > 0)
    return use('refund', { order, amount, reason: text.slice(0, 300) });
  const note = String(field(value, 'note'));
  return {
    text: `${order}, ${String(field(value, 'item'))}: ${String(field(value, 'status'))}.${note === '' ? '' : ` You noted: "${note}"`}`,
  };
}

function orderIn(text: string): string | undefined {
  return /\b\d{4}\b/.exec(text)?.[0];
}

function use(name: string, given: Readonly<Record<string, string | number>>): Reply {
  return { actions: [{ name, arguments: given }] };
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
