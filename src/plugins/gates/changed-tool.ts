import { z } from 'zod';
import type { Conversation, Turn } from '../../domain/conversation.ts';
import { iterationsOf } from '../../domain/conversation.ts';
import { isSameTool, type ToolDefinition } from '../../domain/tool.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import { hold } from '../../kernel/verdict.ts';

/**
 * Holds a tool of a server that describes it otherwise than when its user let it run before, here or elsewhere.
 *
 * Whoever allowed the tool allowed what it said it was. Once it ran under the new description, somebody has allowed that.
 */
export const changedTool = definePlugin({
  id: 'gate.changed_tool',
  about: 'Asks a person before the first run of a tool whose MCP server describes it otherwise than before.',
  config: z.strictObject({}),
  setup(host) {
    host.before('before:tool.invoke', ({ tool }, { conversation }) => {
      if (tool.remote === undefined) return undefined;
      const { name, remote } = tool;
      const before = [...turnsOf(conversation)].filter((turn) => used(turn, name));
      if (before.some((turn) => describes(turn, tool))) return undefined;
      const isChangedElsewhere = conversation.turn?.agent.changed?.includes(name) === true;
      if (before.length === 0 && !isChangedElsewhere) return undefined;
      return hold(
        `The server ${remote.server} now describes ${name} otherwise than when you last let it run: ` +
          `${JSON.stringify(tool.description.slice(0, 500))}. Allow it?`,
      );
    });
  },
});

function* turnsOf({ turns, turn }: Conversation): Generator<Turn> {
  yield* turns;
  if (turn !== undefined) yield turn;
}

/** Whether the tool was run in a turn: nothing runs that nobody allowed. */
function used(turn: Turn, name: string): boolean {
  for (const { actions } of iterationsOf(turn)) {
    for (const { action, begun, observation } of actions) {
      if (action.name === name && begun !== undefined && observation?.outcome !== 'refused') return true;
    }
  }
  return false;
}

function describes({ agent }: Turn, tool: ToolDefinition): boolean {
  return agent.tools.some((one) => one.name === tool.name && isSameTool(one, tool));
}
