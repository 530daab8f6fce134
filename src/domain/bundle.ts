import { z } from 'zod';
import { behaviour } from './behaviour.ts';
import { accountProvider, providerId } from './account.ts';
import { key } from './bundle-key.ts';
import { roles } from './declared-model.ts';
import { surfaces } from './inventory.ts';
import { json } from './content.ts';
import { prices } from './price.ts';

/** The two keys of an agent level that are nobody's own: what all agents share, and what even they leave open. */
export const SHARED_LEVELS = ['default_agent', 'default'] as const;

/** Plugin ids may carry the prefix of the system they come from. */
export const PLUGIN_PREFIX = 'nexus.';

/** The plugin id under which an agent's own keys may stand. */
export const AGENT_PLUGIN = 'agent.react';

const nexusBlock = key(behaviour, 'Keys of `config.react.default_agent`, as a Nexus configuration writes them.');

const config = z.strictObject({
  role_models: key(roles, "This app's models for roles, over `models`."),
  react: key(z.record(z.string(), behaviour), 'By agent, `default_agent` or `default`: how it behaves.'),
  surfaces: key(surfaces, 'What the agents may use.'),
});

const plugins = z
  .object({
    active: key(
      z.array(z.string().min(1)).max(100),
      'Ids of the plugins that are active besides those that always are.',
    ),
    'agent.react': nexusBlock,
    'nexus.agent.react': nexusBlock,
  })
  .catchall(json);

/**
 * The whole of a bundle file: an app with an id, its agents, models and plugins.
 *
 * Strict everywhere: a key that nothing reads is an error. Names that point somewhere (tools, roles, plugins, files) are
 * checked when the bundle is loaded.
 */
export const bundle = z.strictObject({
  id: key(
    z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}(@[\w.-]{1,32})?$/),
    'What the app is called, such as `workspace@1`.',
    {
      otherwise: 'the name of the file',
    },
  ),
  config: key(config, 'How the agents behave and what they may use.'),
  surfaces: key(surfaces, 'The same as `config.surfaces`.'),
  models: key(roles, 'Models by role. `default` is the role that decides where an agent names none.', {
    otherwise: '`balanced`, `reasoning` and `quick` with provider `auto`',
  }),
  plugins: key(plugins, 'Which plugins are active, and by plugin id its configuration.'),
  'nexus.agent.react': nexusBlock,
  prices: key(
    prices,
    'What models cost, by `provider/model` or `provider/*`, over the shipped list. A model without a price has an unknown one.',
  ),
  accounts: key(z.record(providerId, accountProvider), 'By id: where users have accounts that they may connect.'),
});
export type Bundle = z.infer<typeof bundle>;
