/** `conversation:seq`: the same in every process, so it need not be stored. */
export function factId(conversationId: string, seq: number): string {
  return `${conversationId}:${seq}`;
}
