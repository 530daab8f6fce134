import { canonicalJson, isObject, type Json, type JsonObject } from '../../base/json.ts';
import { head } from '../../base/text.ts';
import type { Effect } from '../../domain/tool.ts';
import { followed, inputSchema } from './input-schema.ts';

const METHODS = ['get', 'head', 'options', 'put', 'post', 'patch', 'delete'] as const;
const PLACES = ['path', 'query', 'header'] as const;
type Place = (typeof PLACES)[number];

/** A parameter, and what the model calls it. */
export interface Parameter {
  readonly name: string;
  readonly key: string;
  readonly in: Place;
  readonly style: string;
  readonly explode: boolean;
  /** It is written as JSON. */
  readonly isJson: boolean;
}

export interface Body {
  readonly key: string;
  readonly mediaType: string;
}

/** One operation of a document, ready to be asked for. */
export interface ApiOperation {
  /** Its `operationId`, or its method and path. */
  readonly id: string;
  /** `GET /tasks/{id}`. */
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly description: string;
  readonly effect: Effect;
  readonly inputSchema: JsonObject;
  readonly parameters: readonly Parameter[];
  readonly body: Body | undefined;
}

export interface RefusedOperation {
  readonly id: string;
  readonly route: string;
  readonly why: string;
}

/** Bytes of the schema of one operation: it stands in every prompt. */
const MOST_SCHEMA_BYTES = 64 * 1024;
const LONGEST_DESCRIPTION = 1_500;
const MOST_OPERATIONS = 2_000;

/** Headers that are never the model's business. */
const OUR_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'content-type',
  'authorization',
  'cookie',
  'host',
  'content-length',
]);

/**
 * All operations of a document, in its order, and those that cannot be used, with why. Total.
 *
 * `ours`: headers, in small letters, that are sent whatever the model says.
 */
export function operationsOf(
  document: JsonObject,
  ours: ReadonlySet<string> = new Set(),
): {
  readonly operations: readonly ApiOperation[];
  readonly refused: readonly RefusedOperation[];
} {
  const operations: ApiOperation[] = [];
  const refused: RefusedOperation[] = [];
  const { paths } = document;
  for (const [path, given] of Object.entries(isObject(paths) ? paths : {})) {
    const item = followed(document, given);
    for (const method of METHODS) {
      const operation = item === undefined ? undefined : followed(document, item[method]);
      if (item === undefined || operation === undefined || operations.length >= MOST_OPERATIONS) continue;
      const route = `${method.toUpperCase()} ${path}`;
      const id = typeof operation['operationId'] === 'string' ? operation['operationId'] : route;
      const read = readOperation(document, item, operation, ours);
      if (typeof read === 'string') refused.push({ id, route, why: read });
      else {
        const description = describe(operation, route);
        const effect = EFFECTS[method];
        operations.push({ id, route, method: method.toUpperCase(), path, description, effect, ...read });
      }
    }
  }
  return { operations, refused };
}

/** As HTTP has it: what is safe, what may be said twice, and the rest. */
const EFFECTS: Readonly<Record<(typeof METHODS)[number], Effect>> = {
  ...{ get: 'read', head: 'read', options: 'read' },
  ...{ put: 'idempotent', delete: 'idempotent' },
  ...{ post: 'once', patch: 'once' },
};

type Read = Pick<ApiOperation, 'inputSchema' | 'parameters' | 'body'>;

function readOperation(
  document: JsonObject,
  item: JsonObject,
  operation: JsonObject,
  ours: ReadonlySet<string>,
): Read | string {
  const found = new Map<string, JsonObject>();
  for (const list of [item['parameters'], operation['parameters']]) {
    for (const given of Array.isArray(list) ? (list as readonly Json[]) : []) {
      const one = followed(document, given);
      if (one !== undefined) found.set(`${text(one['in'])} ${text(one['name'])}`, one); // the operation's own stand over the path's
    }
  }
  const properties: Record<string, Json> = {};
  const required: string[] = [];
  const parameters: Parameter[] = [];
  const add = (wanted: string, prefix: string, schema: Json, isRequired: boolean): string => {
    const key = Object.hasOwn(properties, wanted) ? `${prefix}_${wanted}` : wanted;
    properties[key] = schema;
    if (isRequired) required.push(key);
    return key;
  };
  for (const one of found.values()) {
    const name = text(one['name']);
    const place = PLACES.find((known) => known === one['in']);
    const isRequired = one['required'] === true || place === 'path';
    if (place === undefined) {
      if (isRequired) return `it needs the ${text(one['in'])} parameter ${name}`;
      continue;
    }
    if (place === 'header' && [OUR_HEADERS, ours].some((known) => known.has(name.toLowerCase()))) continue;
    const json = mediaOf(one['content'], /json/);
    const schema = described(json?.schema ?? one['schema'] ?? {}, one['description']);
    const style = text(one['style']) || (place === 'query' ? 'form' : 'simple');
    const explode = typeof one['explode'] === 'boolean' ? one['explode'] : style === 'form';
    const key = add(name, place, schema, isRequired);
    parameters.push({ name, key, in: place, style, explode, isJson: json !== undefined });
  }
  const wanted = followed(document, operation['requestBody']);
  let body: Body | undefined;
  if (wanted !== undefined) {
    const media = KINDS.map((kind) => mediaOf(wanted['content'], kind)).find((one) => one !== undefined);
    const isRequired = wanted['required'] === true;
    if (media === undefined && isRequired) {
      return `it takes a body of ${Object.keys(isObject(wanted['content']) ? wanted['content'] : {}).join(' or ')}, which cannot be sent`;
    }
    if (media !== undefined) {
      const key = add('body', 'request', described(media.schema ?? {}, wanted['description']), isRequired);
      body = { key, mediaType: media.type };
    }
  }
  const whole = inputSchema(document, { properties, required });
  const bytes = Buffer.byteLength(canonicalJson(whole));
  if (bytes > MOST_SCHEMA_BYTES)
    return `its schema has ${bytes} bytes; at most ${MOST_SCHEMA_BYTES} are shown to a model`;
  return { inputSchema: whole, parameters, body };
}

/** Bodies that can be written, the best first. */
const KINDS = [/^application\/json\b/i, /\+json\b/i, /^application\/x-www-form-urlencoded\b/i, /^text\/plain\b/i];

function mediaOf(
  content: Json | undefined,
  kind: RegExp,
): { readonly type: string; readonly schema: Json | undefined } | undefined {
  if (!isObject(content)) return undefined;
  const [type, media] = Object.entries(content).find(([name]) => kind.test(name)) ?? [];
  return type === undefined ? undefined : { type, schema: isObject(media) ? media['schema'] : undefined };
}

/** A description of a parameter stands beside its schema. */
function described(schema: Json, description: Json | undefined): Json {
  if (typeof description !== 'string' || !isObject(schema) || typeof schema['description'] === 'string') return schema;
  return { ...schema, description };
}

function describe({ summary, description, deprecated }: JsonObject, route: string): string {
  const said = [...new Set([text(summary).trim(), text(description).trim()])].filter(Boolean).join('\n');
  const whole = head(said, LONGEST_DESCRIPTION).toWellFormed() || route;
  return deprecated === true ? `${whole}\n(deprecated)` : whole;
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Where requests go by the document: its first server, against the document's own address. Undefined when it does not say. */
export function serverOf({ servers }: JsonObject, from: URL | undefined): URL | undefined {
  const first = Array.isArray(servers) ? (servers as readonly Json[])[0] : undefined;
  if (!isObject(first) || typeof first['url'] !== 'string') return from === undefined ? undefined : new URL('/', from);
  const { variables } = first;
  const filled = first['url'].replace(/\{([^}]+)\}/g, (_, name: string) => {
    const variable = isObject(variables) ? variables[name] : undefined;
    return isObject(variable) && typeof variable['default'] === 'string' ? variable['default'] : '';
  });
  const url = URL.parse(filled, from?.href);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}
