import { shortDigest } from '../../../base/digest.ts';
import { isObject } from '../../../base/json.ts';
import { iterationsOf } from '../../../domain/conversation.ts';
import type { ToolContext } from '../../../kernel/running-tool.ts';

/** What tells one content of a file from another. */
export function digestOf(bytes: Uint8Array): string {
  return shortDigest(new TextDecoder('latin1').decode(bytes)); // a character for every byte
}

/** Files that are kept in mind besides what the log has: the results of actions that run side by side are not in it yet. */
const MOST_KEPT = 1_000;
const written = new Map<string, string>();

/** Whether the conversation has seen this content of a file, or made it. Undefined where it knows nothing of the file. */
export function isKnown(context: ToolContext, path: string, digest: string): boolean | undefined {
  const [kept, logged] = [written.get(keyOf(context, path)), loggedDigest(context, path)];
  return kept === undefined && logged === undefined ? undefined : kept === digest || logged === digest;
}

/** The last content of a file that the log knows of. */
export function loggedDigest(
  { conversation: { turn, turns }, actionId }: ToolContext,
  path: string,
): string | undefined {
  for (const one of [...(turn === undefined ? [] : [turn]), ...[...turns].reverse()]) {
    for (const { actions } of [...iterationsOf(one)].reverse()) {
      for (const { action, observation } of actions.toReversed()) {
        const value = observation?.outcome === 'ok' && action.id !== actionId ? observation.value : undefined;
        if (!isObject(value) || value['path'] !== path) continue;
        if (typeof value['digest'] === 'string') return value['digest'];
      }
    }
  }
  return undefined;
}

export function keepInMind(context: ToolContext, path: string, digest: string): void {
  const key = keyOf(context, path);
  written.delete(key);
  written.set(key, digest);
  const [oldest] = written.keys();
  if (written.size > MOST_KEPT && oldest !== undefined) written.delete(oldest);
}

function keyOf({ conversationId, files }: ToolContext, path: string): string {
  return `${conversationId}\n${files?.root ?? ''}\n${path}`;
}
