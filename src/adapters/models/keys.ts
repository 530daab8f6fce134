/** Variables that hold a provider's key; the first is the one to set. */
export const KEY_VARIABLES = {
  anthropic: ['ANTHROPIC_API_KEY'],
  openai: ['OPENAI_API_KEY'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
} as const;
