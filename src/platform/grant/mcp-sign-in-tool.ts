import type { ToolDefinition } from '../../domain/tool.ts';
import { toolResult } from '../../kernel/tool.ts';
import type { CompiledTool } from './catalog.ts';
import type { Owner } from '../accounts/accounts.ts';
import type { PersonalListing } from '../hosting/personal-server.ts';

/** On the wire of MCP nothing is called so. */
const NAME = 'treadle/sign_in';
const OWN = 'sign_in';

export function isSignIn({ remote }: Pick<ToolDefinition, 'remote'>): boolean {
  return remote?.name === NAME;
}

/**
 * Stands in for the tools of a server while nobody knows them: the attempt asks the user to sign in, as the attempt at
 * any tool does that needs an account. What the turn has is settled, so the tools themselves are there with the next one.
 */
export function signInTool(
  server: string,
  label: string,
  listing: (owner: Owner) => Promise<PersonalListing>,
): CompiledTool {
  return {
    own: OWN,
    definition: {
      description: `Ask the user to sign in at ${label}. What can be done there is known, and can be used, from the user's next message on.`,
      inputSchema: { additionalProperties: false, properties: {}, type: 'object' },
      effect: 'idempotent',
      remote: { server, name: NAME },
    },
    hands: {
      validate: () => [],
      async run(_, context) {
        const found = await listing(context);
        const tools = found.status === 'up' ? found.listed.tools.map(({ own }) => own) : [];
        const what = tools.length === 0 ? 'Its tools' : `Its tools (${tools.join(', ')})`;
        return toolResult({
          value: `The user has signed in at ${label}. ${what} can be used from their next message on.`,
        });
      },
    },
  };
}
