import { z } from 'zod';
import { modelRef } from './agent.ts';
import { key, refuse, requiredKey } from './bundle-key.ts';

const fields = {
  provider: requiredKey(
    z.string().min(1),
    'Who serves the model, such as `anthropic`, `openai`, `google` or `scripted`; `auto` is whichever there is a key for.',
  ),
  model: key(z.string().min(1), "The provider's name for it. May be left out for `scripted` and `auto` alone."),
  max_tokens: key(z.int().min(1).max(10_000_000), 'Most output tokens of one call.', { otherwise: "the provider's" }),
  temperature: key(z.number().min(0).max(2), 'Sampling temperature.', { otherwise: "the provider's" }),
  effort: key(modelRef.shape.effort.unwrap(), 'How hard to think, where the provider has such a setting.', {
    otherwise: "the provider's",
  }),
  context_window: key(z.int().min(1).max(100_000_000), 'Tokens that fit into one call, input and output.', {
    otherwise: 'what is known of the model',
  }),
  base_url: key(z.url({ protocol: /^https?$/ }), 'Where the model is reached, for a local or compatible server.', {
    otherwise: "the provider's",
  }),
  api_key_env: key(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/),
    'Name of the environment variable that holds the API key. The key itself never stands in a bundle.',
    { otherwise: "the provider's usual variable" },
  ),
  script: key(z.string().min(1), 'For `scripted`: the file that holds the script, relative to the bundle.'),
  options: key(
    z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    "Anything else the provider's adapter reads.",
  ),
};

/** One way to reach a model, as a bundle writes it. */
export const declaredModel = z.strictObject(fields).superRefine(hasModel).meta({ id: 'model' });
export type DeclaredModel = z.infer<typeof declaredModel>;

/** A model that users may pick. */
export const supportedModel = z
  .strictObject({
    ...fields,
    label: key(z.string().min(1), 'What people read in the menu.', { otherwise: 'the model name' }),
  })
  .superRefine(hasModel)
  .meta({ id: 'supported_model' });
export type SupportedModel = z.infer<typeof supportedModel>;

/** What a role stands for: a model, a chain whose next one is tried when the one before cannot answer, or another role. */
export const roleValue = z
  .union([
    z.string().min(1),
    declaredModel,
    z
      .array(z.union([z.string().min(1), declaredModel]))
      .min(1)
      .max(20),
  ])
  .meta({ id: 'role' });
export type RoleValue = z.infer<typeof roleValue>;

export const roles = z.record(z.string().min(1), roleValue);
export type Roles = z.infer<typeof roles>;

function hasModel(value: { provider: string; model?: string | undefined }, context: z.core.$RefinementCtx): void {
  if (value.model !== undefined || value.provider === 'scripted' || value.provider === 'auto') return;
  refuse(context, { found: 'no model', wanted: `the name of one of ${value.provider}'s models` }, ['model']);
}

/** The roles of a bundle without `models`. */
export const shippedRoles: Roles = {
  balanced: { provider: 'auto' },
  reasoning: { provider: 'auto' },
  quick: { provider: 'auto' },
};
