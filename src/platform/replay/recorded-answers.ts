import { announce } from '../../assembly/announce.ts';
import type { AnnounceBlockSource } from '../../assembly/section.ts';
import { nextIteration, type Turn } from '../../domain/conversation.ts';
import type { AsidePurpose } from '../../domain/aside.ts';
import type { AnswerContext, Bus } from '../../kernel/bus.ts';
import type { Recording } from './recording.ts';

/** Answers requests for plans and summaries with what the log says was answered. */
export function answerAgain(bus: Bus, { turns }: Recording): void {
  const summaries = new Map<string, number>();
  bus.answer('plan.request', async (_, context) => {
    const { turn } = context.conversation;
    const served = turns.get(turn?.id ?? '')?.plan;
    if (served === undefined) return { steps: [], source: 'replay', error: 'the log has no plan' };
    await ask(context, 'plan', served.questions);
    return served.payload;
  });
  bus.answer('memory.compact.request', async (_, context) => {
    const id = context.conversation.turn?.id ?? '';
    const index = summaries.get(id) ?? 0;
    summaries.set(id, index + 1);
    const served = turns.get(id)?.compactions[index];
    if (served === undefined) return { through: 0, summary: '', error: 'the log has no summary' };
    await ask(context, 'compact', served.questions);
    return served.payload;
  });
}

let asked = 0;

/** What was asked then is not in the log, and what was answered is. It is asked for, because it was paid for. */
async function ask({ askModel }: AnswerContext, purpose: AsidePurpose, times: number): Promise<void> {
  for (let time = 0; time < times; time++)
    await askModel({ instructions: '', text: `${purpose}, as on record (${asked++})` });
}

/** Blocks that plugins had added to announce, by what the log says each call was shown. */
export function blocksOfRecord({ calls }: Recording): AnnounceBlockSource {
  const byCall = new Map<string, ReadonlyMap<string, string>>();
  const titles = new Set<string>();
  for (const [key, { request }] of calls) {
    const { announce: text = '', notes = [] } = request.payload;
    const blocks = blocksIn(text);
    if (notes.length > 0) blocks.delete('NOTES'); // gates say these again
    byCall.set(key, blocks);
    for (const title of blocks.keys()) titles.add(title);
  }
  return [...titles].map((title) => [
    title,
    (turn, conversation, now) => {
      const text = byCall.get(keyOfNext(turn))?.get(title);
      const isOurs = text === undefined || `\n${announce(conversation, now) ?? ''}`.includes(`\n[${title}]\n`);
      return isOurs ? undefined : text;
    },
  ]);
}

function keyOfNext(turn: Turn): string {
  const { current } = turn;
  const attempt = current !== undefined && current.response === undefined ? current.attempts.length + 1 : 1;
  return `${turn.id}/${nextIteration(turn)}/${attempt}`;
}

function blocksIn(text: string): Map<string, string> {
  const blocks = new Map<string, string>();
  for (const block of text.split(/\n\n(?=\[[^\]\n]+\]\n)/)) {
    const [, title, body] = /^\[([^\]\n]+)\]\n([^]*)$/.exec(block) ?? [];
    if (title !== undefined && body !== undefined) blocks.set(title, body);
  }
  return blocks;
}
