import { inputTokens, outputTokens } from '../../domain/usage-sum.ts';
import type { Usage } from '../../domain/usage.ts';
import type { Histogram, Labels } from '../../kernel/telemetry.ts';

// Names of the OpenTelemetry semantic conventions for generative AI, version 0.1.0 (status: development).
// https://github.com/open-telemetry/semantic-conventions-genai

const TOKEN_BOUNDARIES = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
const SECOND_BOUNDARIES = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const LONG_BOUNDARIES = [...SECOND_BOUNDARIES, 163.84, 327.68, 655.36, 1310.72];

export const OPERATION_DURATION: Histogram = {
  name: 'gen_ai.client.operation.duration',
  about: 'GenAI operation duration.',
  unit: 's',
  boundaries: SECOND_BOUNDARIES,
};

export const TOKEN_USAGE: Histogram = {
  name: 'gen_ai.client.token.usage',
  about: 'Number of input and output tokens used.',
  unit: '{token}',
  boundaries: TOKEN_BOUNDARIES,
};

export const AGENT_DURATION: Histogram = {
  name: 'gen_ai.invoke_agent.duration',
  about: 'Duration of an agent invocation, without the time it waits for people.',
  unit: 's',
  boundaries: LONG_BOUNDARIES,
};

export const TOOL_DURATION: Histogram = {
  name: 'gen_ai.execute_tool.duration',
  about: 'Duration of a tool execution.',
  unit: 's',
  boundaries: LONG_BOUNDARIES,
};

/** Our provider ids where the conventions have another word. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  'google-vertex': 'gcp.vertex_ai',
  'amazon-bedrock': 'aws.bedrock',
  azure: 'azure.ai.openai',
  mistral: 'mistral_ai',
  moonshotai: 'moonshot_ai',
  xai: 'x_ai',
};

export function providerName(provider: string): string {
  return Object.hasOwn(PROVIDERS, provider) ? (PROVIDERS[provider] ?? provider) : provider;
}

/** Usage of one model call. On spans of model calls alone: whoever sums it over a trace must not count it twice. */
export function usageLabels(usage: Usage): Labels {
  const written = usage.cacheWrite === undefined && usage.cacheWriteLong === undefined;
  return {
    ...totals('gen_ai.usage', usage),
    'gen_ai.usage.cache_read.input_tokens': usage.cacheRead,
    'gen_ai.usage.cache_write.input_tokens': written
      ? undefined
      : (usage.cacheWrite ?? 0) + (usage.cacheWriteLong ?? 0),
    'gen_ai.usage.reasoning.output_tokens': usage.reasoning,
    'treadle.usage.searches': usage.searches,
  };
}

/** The sum over a turn, under a name that nobody adds to that of its calls. */
export function turnUsageLabels(usage: Usage): Labels {
  return totals('treadle.turn.usage', usage);
}

function totals(prefix: string, usage: Usage): Labels {
  const { input, cacheRead, cacheWrite, cacheWriteLong, output, reasoning } = usage;
  const hasInput = [input, cacheRead, cacheWrite, cacheWriteLong].some((one) => one !== undefined);
  const hasOutput = output !== undefined || reasoning !== undefined;
  return {
    [`${prefix}.input_tokens`]: hasInput ? inputTokens(usage) : undefined,
    [`${prefix}.output_tokens`]: hasOutput ? outputTokens(usage) : undefined,
  };
}
