import type { Conversation } from '../../src/domain/conversation.ts';
import type { SelectionStore } from '../../src/kernel/choices.ts';
import { fold } from '../../src/domain/fold.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { aContext } from '../support/tool-context.ts';
import { emptyConversation } from '../../src/domain/conversation.ts';
import { loadBundle, type LoadedBundle } from '../../src/platform/bundle/load.ts';
import type { EffectiveAgent } from '../../src/domain/agent.ts';
import { aMeta, inFolder, loadOptions, type Files } from '../support/bundles.ts';

export const skill = (name: string, more = '', body = `Do ${name}.`): string =>
  `---\nname: ${name}\ndescription: About ${name}.\n${more}---\n${body}\n`;

export const yaml = (skills: string, tools = '[]'): string => `
surfaces:
  as_consumer:
    agents:
      main:
        tools: ${tools}
        skills: ${skills}
models:
  balanced: {provider: openai, model: m}
`;

/** Runs with a bundle whose files are still there. */
export function withSkills<T>(
  text: string,
  files: Files,
  run: (bundle: LoadedBundle, folder: string) => Promise<T>,
  prepare: (folder: string) => void = () => undefined,
): Promise<T> {
  return inFolder(text, files, async (file, folder) => {
    prepare(folder);
    return run(await loadBundle(file, loadOptions), folder);
  });
}

/** The effective agent of a user who switched these off. */
export async function agentOf(bundle: LoadedBundle, disabled: object = {}): Promise<EffectiveAgent> {
  const store: SelectionStore = {
    readSelection: () => ({ value: { schema_version: 1, disabled }, revision: 1 }),
    writeSelection: () => false,
  };
  const { agent } = await bundle.agentSource(store).assemble(aMeta('main'), emptyConversation('c1', 'main'));
  return agent;
}

/** What a tool of the agent gives, in a turn of that agent. */
export async function use(
  bundle: LoadedBundle,
  agent: EffectiveAgent,
  name: string,
  args: JsonObject,
): Promise<unknown> {
  const tool = bundle.agent('main').tools.get(name);
  if (tool === undefined) throw new Error(`there is no ${name}`);
  const problems = tool.validate(args);
  return problems.length > 0 ? problems : tool.run(args, aContext({ conversation: inTurnOf(agent) }));
}

/** A conversation whose first turn begins now, with this agent. */
function inTurnOf(agent: EffectiveAgent): Conversation {
  const start = { type: 'agent.turn.start' as const, v: 1, payload: { agent, digest: 'd' } };
  return fold('c1', 'main', [
    { ...start, seq: 1, id: 'c1:1', at: 0, conversationId: 'c1', agentPath: 'main', turnId: 't1' },
  ]);
}
