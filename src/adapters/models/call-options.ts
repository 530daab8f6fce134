import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { promptTools } from '../../domain/deferred.ts';
import type { ModelRequest } from '../../domain/model.ts';
import { ownTools, searchIn } from '../../domain/provider-search.ts';
import type { ToolDefinition } from '../../domain/tool.ts';
import type { Dialect } from './dialect.ts';
import { toolMarker, toPrompt } from './prompt.ts';
import { isStrict, wireSchema } from './wire-schema.ts';

/** A request as the AI SDK's call options, all but the signal. */
export function toCallOptions(request: ModelRequest, dialect: Dialect): LanguageModelV4CallOptions {
  const { maxTokens, temperature, effort } = request.model;
  const choice = toolChoice(request);
  const format = responseFormat(request);
  const providerOptions = providerOptionsOf(request, dialect);
  const tools = [...markedTools(request, dialect), ...webSearch(request, dialect)];
  return {
    prompt: toPrompt(request, dialect),
    ...(tools.length > 0 && { tools }),
    ...(choice !== undefined && { toolChoice: choice }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(effort !== undefined && { reasoning: effort }),
    ...(format !== undefined && { responseFormat: format }),
    ...(providerOptions !== undefined && { providerOptions }),
  };
}

const catalogues = new WeakMap<readonly ToolDefinition[], LanguageModelV4FunctionTool[]>();

/** Converted once per catalogue, which is one value for all requests of a turn. */
function wireTools(tools: readonly ToolDefinition[]): LanguageModelV4FunctionTool[] {
  let wire = catalogues.get(tools);
  if (wire === undefined) {
    wire = tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      name,
      description: description.toWellFormed(),
      inputSchema: wireSchema(inputSchema),
    }));
    catalogues.set(tools, wire);
  }
  return wire;
}

type WireTool = LanguageModelV4FunctionTool | LanguageModelV4ProviderTool;

/** The tools of the prompt first, the last of them marked where the cache wants that; then what the provider searches. */
function markedTools(request: ModelRequest, dialect: Dialect): readonly WireTool[] {
  const own = ownTools(request.tools);
  const listed = promptTools(own);
  const tools = wireTools(listed);
  const marker = toolMarker(request, dialect);
  const last = tools.at(-1);
  const marked =
    marker === undefined || last === undefined ? tools : [...tools.slice(0, -1), { ...last, providerOptions: marker }];
  return listed.length === own.length ? marked : [...marked, ...searched(own, dialect)];
}

/** The provider's own search of the web, where it may search in this call: what it does nobody here is asked about. */
function webSearch(request: ModelRequest, { webSearch: known }: Dialect): readonly WireTool[] {
  const search = known === undefined ? undefined : searchIn(request);
  if (known === undefined || search === undefined) return [];
  return [{ type: 'provider', id: known.id, name: known.name, args: known.args(search) }];
}

const searchedTools = new WeakMap<Dialect, WeakMap<readonly ToolDefinition[], WireTool[]>>();

/** Deferred tools, and the provider's search for them. */
function searched(tools: readonly ToolDefinition[], dialect: Dialect): WireTool[] {
  const { key, search } = dialect;
  const known = searchedTools.get(dialect) ?? new WeakMap<readonly ToolDefinition[], WireTool[]>();
  searchedTools.set(dialect, known);
  let wire = known.get(tools);
  if (wire === undefined) {
    const deferred = wireTools(tools.filter((tool) => tool.deferred === true));
    wire =
      search === undefined
        ? deferred // nobody would find them
        : [
            { type: 'provider', ...search, args: {} },
            ...deferred.map((tool) => ({ ...tool, providerOptions: { [key]: { deferLoading: true } } })),
          ];
    known.set(tools, wire);
  }
  return wire;
}

function toolChoice(request: ModelRequest): LanguageModelV4ToolChoice | undefined {
  const { tools, toolChoice: choice, allowed } = request;
  const own = ownTools(tools);
  if (own.length === 0 && searchIn(request) === undefined) return undefined;
  // The catalogue stays as it is, because it is cached; a call of a name that is not allowed is refused at dispatch.
  if (allowed?.length === 0) return { type: 'none' };
  if (choice?.mode !== 'tool') return choice === undefined ? undefined : { type: choice.mode };
  // A search cannot be asked for by name everywhere, and not where the model has none.
  if (own.length < tools.length && !own.some(({ name }) => name === choice.name)) return { type: 'auto' };
  return choice.name === undefined ? { type: 'required' } : { type: 'tool', toolName: choice.name };
}

function responseFormat({
  responseSchema,
}: ModelRequest): Extract<LanguageModelV4CallOptions['responseFormat'], { type: 'json' }> | undefined {
  return responseSchema === undefined
    ? undefined
    : { type: 'json', name: 'answer', schema: wireSchema(responseSchema) };
}

/** Settings that only one provider has. */
function providerOptionsOf(
  request: ModelRequest,
  { key, thinking, storesAnswers, webSearch: known }: Dialect,
): SharedV4ProviderOptions | undefined {
  const { toolChoice: choice, responseSchema, model } = request;
  const tools = ownTools(request.tools);
  const search = known === undefined ? undefined : searchIn(request);
  const own = request.allowed?.filter((name) => name !== search?.name && tools.some((tool) => tool.name === name));
  const allowed = search === undefined || own === undefined ? own : [...own, known?.name ?? search.name];
  const loose = responseSchema !== undefined && !isStrict(responseSchema);
  if (key === 'openai' || key === 'azure') {
    // What its search finds cannot be named there: dispatch refuses what may not be called.
    const searches = promptTools(tools).length < tools.length;
    const narrowed = !searches && own !== undefined && own.length > 0 && own.length < tools.length;
    const mode = choice?.mode === 'required' ? 'required' : 'auto';
    return {
      [key]: {
        // Every request carries the whole transcript, so nothing needs to be kept at the provider.
        ...(storesAnswers && { store: false }),
        ...(narrowed && choice?.mode !== 'tool' && choice?.mode !== 'none'
          ? { allowedTools: { toolNames: [...(allowed ?? [])], mode } }
          : {}),
        ...(loose && { strictJsonSchema: false }),
        ...(search !== undefined && { maxToolCalls: search.maxUses }),
      },
    };
  }
  // Without this Gemini thinks and says nothing of it.
  if (key === 'google' && model.effort !== undefined && model.effort !== 'none') {
    return { google: { thinkingConfig: { includeThoughts: true } } };
  }
  if (thinking === 'plain' && loose) return { openaiCompatible: { strictJsonSchema: false } };
  return undefined;
}
