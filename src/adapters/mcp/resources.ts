import type { Client, RequestOptions, ServerCapabilities } from '@modelcontextprotocol/client';
import { shortDigest } from '../../base/digest.ts';
import { toJson, type JsonObject } from '../../base/json.ts';
import type { Part } from '../../domain/content.ts';
import type { ToolReturn } from '../../kernel/running-tool.ts';
import { toolFailure, toolResult } from '../../kernel/tool.ts';
import { isMethodNotFound } from './listing.ts';
import type { RemoteTool } from './remote-tool.ts';
import { resourcePart } from './result.ts';

/** Methods of a server that are no tools and that a model can use like tools. */
const EXTRAS = {
  'resources/list': {
    own: 'list_resources',
    capability: 'resources',
    description: 'List what can be read from this server: documents, records and files, each with its URI.',
    inputSchema: { additionalProperties: false, properties: {}, type: 'object' },
  },
  'resources/read': {
    own: 'read_resource',
    capability: 'resources',
    description: 'Read one resource of this server by its URI, as list_resources or a result names it.',
    inputSchema: {
      additionalProperties: false,
      properties: { uri: { minLength: 1, type: 'string' } },
      required: ['uri'],
      type: 'object',
    },
  },
  'prompts/list': {
    own: 'list_prompts',
    capability: 'prompts',
    description: 'List the prompts that this server has prepared, with their arguments.',
    inputSchema: { additionalProperties: false, properties: {}, type: 'object' },
  },
  'prompts/get': {
    own: 'get_prompt',
    capability: 'prompts',
    description: 'Read one prepared prompt of this server, with its arguments filled in.',
    inputSchema: {
      additionalProperties: false,
      properties: {
        arguments: { additionalProperties: { type: 'string' }, type: 'object' },
        name: { minLength: 1, type: 'string' },
      },
      required: ['name'],
      type: 'object',
    },
  },
} as const satisfies Readonly<
  Record<string, { own: string; capability: 'resources' | 'prompts'; description: string; inputSchema: JsonObject }>
>;

type Extra = keyof typeof EXTRAS;

/** Prompts are for people to pick: a model has them only where the bundle names these tools. */
export const ONLY_WHEN_NAMED: ReadonlySet<string> = new Set(['list_prompts', 'get_prompt']);

const MOST_PAGES = 10;
const MOST_ENTRIES = 200;

export function isExtra(name: string): name is Extra {
  return Object.hasOwn(EXTRAS, name);
}

/** What a tool is called in bundles and selections, by its name on the wire of MCP. */
export function ownName(name: string): string {
  return isExtra(name) ? EXTRAS[name].own : name;
}

/** Tools for what a server has besides tools. A tool of its own that has the name comes first. */
export function extraTools(
  server: string,
  capabilities: ServerCapabilities,
  tools: readonly RemoteTool[],
): readonly RemoteTool[] {
  return Object.entries(EXTRAS)
    .filter(
      ([, { own, capability }]) => capabilities[capability] !== undefined && !tools.some((tool) => tool.own === own),
    )
    .map(([name, { own, description, inputSchema }]) => ({
      own,
      definition: { description, inputSchema, effect: 'read' as const, remote: { server, name } },
      outputSchema: undefined,
      digest: shortDigest(name),
      losses: [],
    }));
}

export async function runExtra(
  client: Client,
  name: Extra,
  args: JsonObject,
  options: RequestOptions,
): Promise<ToolReturn> {
  switch (name) {
    case 'resources/list': {
      const found = await pages(
        (params) => client.request({ method: 'resources/list', params }, options),
        (page) => page.resources,
      );
      return toolResult({ value: { resources: entries(found), ...cut(found), ...(await templates(client, options)) } });
    }
    case 'prompts/list': {
      const found = await pages(
        (params) => client.request({ method: 'prompts/list', params }, options),
        (page) => page.prompts,
      );
      return toolResult({ value: { prompts: entries(found), ...cut(found) } });
    }
    case 'resources/read': {
      const { contents } = await client.readResource({ uri: textAt(args, 'uri') }, options);
      if (contents.length === 0) return toolFailure('empty', 'The server has the resource and gave nothing of it.');
      return toolResult({ content: contents.map((one) => resourcePart({ ...one })) });
    }
    case 'prompts/get': {
      const given = args['arguments'] as Record<string, string> | undefined; // as the schema wants
      const prompt = { name: textAt(args, 'name'), ...(given === undefined ? {} : { arguments: given }) };
      const { messages } = await client.getPrompt(prompt, options);
      const content = messages.map(({ role, content: said }): Part => ({
        type: 'text',
        text: `${role}: ${textOf(said)}`,
      }));
      return toolResult(content.length === 0 ? { value: null } : { content });
    }
  }
}

/** The arguments have been checked by then. */
function textAt(args: JsonObject, key: string): string {
  const value = args[key];
  return typeof value === 'string' ? value : '';
}

function textOf(content: { readonly type: string; readonly text?: unknown; readonly resource?: unknown }): string {
  if (typeof content.text === 'string') return content.text;
  if (content.type !== 'resource') return `[${content.type}]`;
  const part = resourcePart(content.resource as Record<string, unknown>); // as the library has checked
  return part.type === 'text' ? part.text : `[${part.mediaType}]`;
}

interface Page {
  readonly nextCursor?: string | undefined;
}

interface Found<T> {
  readonly items: readonly T[];
  readonly isCut: boolean;
}

/** Everything that a list has, up to a cap. */
async function pages<P extends Page, T>(
  page: (params: { readonly cursor?: string }) => Promise<P>,
  itemsOf: (page: P) => readonly T[],
): Promise<Found<T>> {
  const items: T[] = [];
  const seen = new Set<string>();
  let params: { readonly cursor?: string } = {};
  for (let count = 0; count < MOST_PAGES && items.length <= MOST_ENTRIES; count++) {
    const found: P = await page(params);
    items.push(...itemsOf(found));
    const cursor = found.nextCursor;
    if (cursor === undefined || seen.has(cursor))
      return { items: items.slice(0, MOST_ENTRIES), isCut: items.length > MOST_ENTRIES };
    seen.add(cursor);
    params = { cursor };
  }
  return { items: items.slice(0, MOST_ENTRIES), isCut: true };
}

/** URIs with places to fill in. A server need not have any. */
async function templates(client: Client, options: RequestOptions): Promise<JsonObject> {
  try {
    const found = await pages(
      (params) => client.request({ method: 'resources/templates/list', params }, options),
      (page) => page.resourceTemplates,
    );
    return found.items.length === 0 ? {} : { templates: entries(found), ...cut(found) };
  } catch (error) {
    if (isMethodNotFound(error)) return {};
    throw error;
  }
}

interface Entry {
  readonly name: string;
  readonly uri?: string | undefined;
  readonly uriTemplate?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly arguments?: unknown;
}

function entries({ items }: Found<Entry>): readonly JsonObject[] {
  return items.map(({ name, uri, uriTemplate, title, description, mimeType, arguments: given }) => {
    const known = Object.entries({ name, uri, uriTemplate, title, description, mimeType, arguments: given });
    return Object.fromEntries(
      known.filter(([, value]) => value !== undefined).map(([key, value]) => [key, toJson(value)]),
    );
  });
}

function cut({ items, isCut }: Found<unknown>): JsonObject {
  return isCut ? { note: `there are more; only ${items.length} are listed` } : {};
}
