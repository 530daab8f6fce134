import { z } from 'zod';
import { defineTool, toolFailure, toolResult, type BuiltinGroup } from '../../kernel/tool.ts';

const input = z.strictObject({
  name: z.string().min(1).max(64).describe('The exact name of the tool.'),
  arguments: z.record(z.string(), z.unknown()).optional().describe('Leave this out: nothing is called here.'),
});

/**
 * `tool_call` says what a call of a granted tool takes and what it will meet. It does not make the call: a tool that
 * calls tools would act without its own question to the gates, its own intent in the log and its own observation.
 */
const toolCall = defineTool({
  name: 'tool_call',
  description:
    'Look up how one of your tools is called, before you call it: its input schema, whether a person is asked first, ' +
    'and whether it changes anything. If the tool is off for this turn, says why. This calls nothing: to use a tool, ' +
    'call that tool itself.',
  input,
  effect: 'read',
  run({ name, arguments: given }, { conversation }) {
    const agent = conversation.turn?.agent ?? conversation.agent;
    const off = agent?.inactive.find((one) => one.name === name);
    if (off !== undefined) return toolFailure('inactive', `${name} is off for this turn: ${off.why}`);
    const tool = agent?.tools.find((one) => one.name === name);
    if (tool === undefined) {
      const names = agent?.tools.map((one) => one.name).join(', ') ?? '';
      return toolFailure('not_allowed', `There is no tool named ${JSON.stringify(name)}. Your tools: ${names}`);
    }
    if (given !== undefined) {
      return toolFailure('not_called', `Nothing was called. Call ${name} itself, with these arguments.`);
    }
    const value = {
      name,
      description: tool.description,
      input_schema: tool.inputSchema,
      asks_a_person_first: tool.approval === 'ask',
      changes_something: tool.effect !== 'read',
    };
    // Its description is in front of the model now, as after a search.
    return tool.deferred === true ? toolResult({ value, loads: [name] }) : value;
  },
});

/** What every agent has: how its own tools are called. */
export const ioGroup: BuiltinGroup = { name: 'io', locked: true, tools: [toolCall] };
