/**
 * The model that is taken when a key is set and nobody has chosen one: the provider's own first choice for agents that is
 * not its dearest.
 *
 * Source: the model lists and examples of `@ai-sdk/anthropic` 4.0.105, `@ai-sdk/openai` 4.0.118 and `@ai-sdk/google`
 * 4.0.121, read on 2026-11-30. A test checks that the installed packages know them.
 */
export const DEFAULT_MODELS = {
  anthropic: 'claude-sonnet-5-5',
  openai: 'gpt-6-astra',
  google: 'gemini-4-argon',
} as const;
