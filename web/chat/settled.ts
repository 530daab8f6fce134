import type { Choosing } from '../state/use-choices.ts';

/**
 * Before something is sent: what was chosen counts for it.
 *
 * Throws where the person has to decide on a price first, and where the server did not take the choice.
 */
export async function settled({ writer }: Choosing, onOpen: (isOpen: boolean) => void): Promise<void> {
  if (writer.view.unsaved === undefined) return;
  const isDone = await writer.flush();
  const { problem } = writer.view;
  if (isDone && problem === undefined) return;
  onOpen(true);
  throw new Error(
    isDone ? 'What the agent may use was not changed.' : 'First decide on the change that costs something.',
  );
}
