// What the script says to a request of Treadle's.
import type { Model } from '../../src/index.ts';
import { reply, type Reply } from '../script.ts';

type Messages = Parameters<Model['call']>[0]['messages'];
type UserMessage = Extract<Messages[number], { role: 'user' }>;

export function decide(messages: Messages): Reply {
  let at = messages.length - 1;
  const results: number[] = [];
  for (; messages[at]!.role !== 'user'; at--) {
    const message = messages[at]!;
    if (message.role !== 'tool') continue;
    for (const { observation } of message.results) results.push((observation.value as { exposure: number }).exposure);
  }
  const [part] = (messages[at] as UserMessage).content;
  const text = part?.type === 'text' ? part.text : '';
  return reply(text, results, () => messages.filter((one) => one.role === 'user').length);
}
