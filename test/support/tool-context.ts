import { emptyConversation } from '../../src/domain/conversation.ts';
import type { ToolContext } from '../../src/kernel/running-tool.ts';
import type { BuiltinGroup } from '../../src/kernel/tool.ts';
import { compileTool } from '../../src/platform/grant/catalog.ts';

/** What a tool may touch, with nothing behind it but what the test gives. */
export function aContext(more: Partial<ToolContext> = {}): ToolContext {
  return {
    conversationId: 'c1',
    userId: 'ana',
    tenant: 'local',
    turnId: 't1',
    actionId: 't1-1-1',
    idempotencyKey: 'c1/t1-1-1',
    signal: new AbortController().signal,
    now: () => 0,
    progress: () => undefined,
    readBody: () => undefined,
    conversation: emptyConversation('c1', 'main'),
    fetch: () => Promise.reject(new Error('no network')),
    secrets: {},
    call: () => Promise.reject(new Error('no tools')),
    ...more,
  };
}

/** Runs one tool of a group as the loop does: arguments are checked first, and problems are what it gives then. */
export async function runTool(
  group: BuiltinGroup,
  name: string,
  args: Parameters<ReturnType<typeof compileTool>['hands']['run']>[0],
  more: Partial<ToolContext> = {},
): Promise<unknown> {
  const spec = group.tools.find((one) => one.name === name);
  if (spec === undefined) throw new Error(`${group.name} has no ${name}`);
  const { hands } = compileTool(spec, group.name);
  const problems = hands.validate(args);
  return problems.length > 0 ? { problems } : await hands.run(args, aContext(more));
}
