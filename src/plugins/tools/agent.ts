import { z } from 'zod';
import { defineTool, delegateTo, type BuiltinGroup } from '../../kernel/tool.ts';

/** Handing tasks to the agents of one bundle, each of which works in a run of its own. */
export function agentGroup(agents: readonly string[]): BuiltinGroup {
  const input = z.strictObject({
    agent: z.enum(agents).describe('Who is to do it.'),
    task: z
      .string()
      .min(1)
      .max(100_000)
      .describe(
        'The whole task: what to do, what is known, what to answer with. Nothing else of this conversation is seen.',
      ),
  });
  const delegate = defineTool({
    name: 'delegate',
    description:
      `Give a task to another agent (${agents.join(', ')}) and wait for its answer. It works alone, with its own tools, and ` +
      'sees only the task. Use it for a piece of work that stands on its own; do small things yourself.',
    input,
    // Running it again finds the run that the first attempt has begun.
    effect: 'idempotent',
    timeoutMs: 0,
    run: ({ agent, task }) => delegateTo(agent, task),
  });
  return { name: 'agent', locked: false, tools: [delegate] };
}
