import { z } from 'zod';
import { STANDING_SCOPES } from '../../domain/allowance.ts';
import { key } from '../../domain/bundle-key.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import { hold } from '../../kernel/verdict.ts';
import { shownArguments } from './shown-arguments.ts';

const config = z.strictObject({
  expires_in_ms: key(z.int().min(1_000), 'Milliseconds until no answer becomes a denial.', {
    default: 'the question waits for ever',
  }),
  remember: key(
    z.array(z.enum(STANDING_SCOPES)),
    'How far a yes may reach beyond the one run: `conversation`, `always`. None: a person is asked each time.',
    { otherwise: 'both' },
  ),
});

/**
 * Holds every action of a tool that is declared with `approval: ask` until a person has answered. A yes for more than the
 * one run is a yes to the tool, whatever its arguments.
 */
export const toolApproval = definePlugin({
  id: 'gate.tool_approval',
  about: 'Asks a person before a run of a tool that is declared with `approval: ask`.',
  config,
  example: { expires_in_ms: 86_400_000, remember: ['conversation'] },
  stances: (_, { approval }) => (approval === 'ask' ? [{ then: 'ask', at: [] }] : []),
  setup(host, { expires_in_ms: expiresInMs, remember: scopes = STANDING_SCOPES }) {
    host.before('before:tool.invoke', ({ tool, arguments: given }) => {
      if (tool.approval !== 'ask') return undefined;
      const question = `Allow ${tool.name} ${shownArguments(given)}?`;
      return hold(question, {
        ...(expiresInMs !== undefined && { expiresInMs }),
        ...(scopes.length > 0 && { remember: { scopes, subject: {}, about: `every run of ${tool.name}` } }),
      });
    });
  },
});
