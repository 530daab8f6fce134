import { z } from 'zod';
import { iterationsOf, type Conversation, type Turn } from '../../domain/conversation.ts';
import type { AnnounceBlock } from '../../kernel/plugin.ts';
import { defineTool, type BuiltinGroup } from '../../kernel/tool.ts';

const NAME = 'todo_write';
const MOST_ITEMS = 50;

const item = z.strictObject({
  text: z.string().trim().min(1).max(300).describe('What is to be done, in a few words.'),
  status: z.enum(['open', 'doing', 'done', 'dropped']).default('open'),
});

const input = z.strictObject({
  items: z.array(item).max(MOST_ITEMS).describe('The whole list, in order. It takes the place of the one before.'),
});

type Item = z.output<typeof item>;

const todoWrite = defineTool({
  name: NAME,
  description:
    'Keep a list of what is to be done, where the work has three steps or more. Send the whole list each time: mark one ' +
    'item doing before you begin it and done as soon as it is, add what turns up, drop what is no longer needed. The ' +
    'person watches the list, and you are reminded of it.',
  input,
  effect: 'idempotent',
  run({ items }) {
    const count = (status: Item['status']): number => items.filter((one) => one.status === status).length;
    return { open: count('open') + count('doing'), done: count('done'), dropped: count('dropped') };
  },
});

/** What is left of the list, also after the call that made it is no longer in the prompt. */
const reminder: AnnounceBlock = (turn, conversation) => {
  if (!turn.agent.tools.some(({ name }) => name === NAME)) return undefined;
  const items = lastOf(turn) ?? lastOfEarlier(conversation) ?? [];
  if (!items.some(({ status }) => status === 'open' || status === 'doing')) return undefined;
  return items
    .filter(({ status }) => status !== 'dropped')
    .map(({ text, status }) => `- [${status === 'done' ? 'x' : ' '}] ${text}${status === 'doing' ? ' (doing)' : ''}`)
    .join('\n');
};

/** A list that the model keeps of its own work. It is in the log as the calls that wrote it, and nowhere else. */
export const todoGroup: BuiltinGroup = {
  name: 'todo',
  locked: false,
  tools: [todoWrite],
  announces: ['TASKS', reminder],
};

/** The list that a turn left, where it wrote one. */
function lastOf(turn: Turn): readonly Item[] | undefined {
  for (const { actions } of [...iterationsOf(turn)].reverse()) {
    for (const { action, begun, observation } of [...actions].reverse()) {
      if (action.name !== NAME || observation?.outcome !== 'ok') continue;
      const read = input.safeParse(begun?.arguments ?? action.arguments);
      if (read.success) return read.data.items;
    }
  }
  return undefined;
}

/** By ended turn: the list as it was at its end. Ended turns do not change, so each is looked at once. */
const known = new WeakMap<Turn, readonly Item[]>();

function lastOfEarlier({ turns }: Conversation): readonly Item[] | undefined {
  let found: readonly Item[] | undefined;
  for (let at = turns.length - 1; at >= 0 && found === undefined; at--) {
    const turn = turns.at(at);
    if (turn !== undefined) found = known.get(turn) ?? lastOf(turn);
  }
  const newest = turns.at(-1);
  if (newest !== undefined) known.set(newest, found ?? []);
  return found;
}
