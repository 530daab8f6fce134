import { iterationsOf, type Turn } from '../../domain/conversation.ts';

/**
 * Whether a model may be asked for another answer in the place of one that a gate refuses: so often a turn, and not where
 * it has just said the same again. The turn's log counts, so that a restart does not begin anew.
 */
export function mayTryAgain(
  turn: Turn | undefined,
  { gate, retries, text }: { readonly gate: string; readonly retries: number; readonly text: string },
): boolean {
  if (turn === undefined) return false;
  const refused = [...iterationsOf(turn)].filter((one) => one.refused?.gate === gate);
  const last = refused.at(-1)?.decision;
  return refused.length < retries && !(last?.type === 'answer' && last.text === text);
}
