import { z } from 'zod';
import { isObject, toJson, type Json, type JsonObject } from '../base/json.ts';
import {
  API,
  errorReply,
  frame,
  keyRoutes,
  NEXUSTRADE_API,
  operateRoutes,
  nexustradeRoutes,
  operationRoutes,
  imageRoutes,
  runRoutes,
  accountRoutes,
  allowanceRoutes,
  noteRoutes,
  selectionRoutes,
  WIRE_ERRORS,
  type RouteShape,
  type RouteTable,
  type WireErrorCode,
} from './wire.ts';

export interface DocumentOptions {
  readonly version: string;
  readonly publicUrl?: string | undefined;
}

/** What any route may answer that has to know who asks. */
const EVERY: readonly WireErrorCode[] = [
  'invalid_token',
  'insufficient_scope',
  'compute_forbidden',
  'rate_limit_exceeded',
];
const MUTATION: readonly WireErrorCode[] = [
  'invalid_idempotency_key',
  'idempotency_conflict',
  'idempotency_in_progress',
];
const BODY: readonly WireErrorCode[] = ['body_too_large', 'unsupported_media_type', 'invalid_request'];

/** Every code that a route may answer, of its own and of its kind. */
export function refusalsOf(shape: RouteShape): readonly WireErrorCode[] {
  const codes = [
    ...(shape.query === undefined ? [] : (['invalid_request'] as const)),
    ...(shape.path.includes('{id}') ? (['not_found'] as const) : []),
    ...(shape.scope === undefined ? [] : EVERY),
    ...(shape.mutation === true ? MUTATION : []),
    ...(shape.body === undefined ? [] : BODY),
    ...shape.refuses,
  ];
  return (Object.keys(WIRE_ERRORS) as WireErrorCode[]).filter((code) => codes.includes(code)); // its own keys
}

/** What is refused with the status that its code has, and what is refused with 422 although its code has 400. */
function statusesOf(shape: RouteShape, hasOneForAll: boolean): ReadonlyMap<number, readonly WireErrorCode[]> {
  const byStatus = new Map<number, WireErrorCode[]>();
  const add = (status: number, code: WireErrorCode): void =>
    void byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  for (const code of refusalsOf(shape)) {
    add(WIRE_ERRORS[code].status, code);
    if (code === 'invalid_request' && shape.body !== undefined && !hasOneForAll) add(422, code);
  }
  return new Map([...byStatus].sort(([one], [other]) => one - other));
}

export const SURFACES: readonly { readonly tag: string; readonly prefix: string; readonly table: RouteTable }[] = [
  { tag: 'Runs', prefix: API, table: runRoutes },
  { tag: 'Images', prefix: API, table: imageRoutes },
  { tag: 'Choices', prefix: API, table: selectionRoutes },
  { tag: 'Accounts', prefix: API, table: accountRoutes },
  { tag: 'Allowances', prefix: API, table: allowanceRoutes },
  { tag: 'Notes', prefix: API, table: noteRoutes },
  { tag: 'Operating', prefix: API, table: operateRoutes },
  { tag: 'Keys', prefix: API, table: keyRoutes },
  { tag: 'Agents (requirement wire)', prefix: NEXUSTRADE_API, table: nexustradeRoutes },
  { tag: 'Operations', prefix: '', table: operationRoutes },
];

/** The OpenAPI 3.1 document of both surfaces, made of the route tables. zod writes the schemas: 3.1 has the same dialect. */
export function openApiDocument({ version, publicUrl }: DocumentOptions): JsonObject {
  const schemas: Record<string, Json> = {};
  const paths: Record<string, Record<string, Json>> = {};
  for (const { tag, prefix, table } of SURFACES) {
    for (const [name, shape] of Object.entries(table)) {
      const path = `${prefix}${shape.path}`;
      paths[path] = { ...paths[path], [shape.method.toLowerCase()]: operation(name, tag, table, shape, schemas) };
    }
  }
  schemaOf(errorReply, 'output', schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Treadle',
      version,
      summary: 'Agents that are declared, ask before they act, and write down everything they do.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl ?? '/' }],
    tags: SURFACES.map(({ tag }) => ({ name: tag })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key `sk-…`, or a token of the configured issuer. None is needed until a key was made.',
        },
      },
    },
  };
}

function operation(
  name: string,
  tag: string,
  table: RouteTable,
  shape: RouteShape,
  schemas: Record<string, Json>,
): JsonObject {
  const refused = [...statusesOf(shape, table === nexustradeRoutes)].map(([status, codes]): [string, Json] => [
    String(status),
    {
      description: codes.map((code) => `\`${code}\`: ${WIRE_ERRORS[code].about}`).join(' '),
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    },
  ]);
  return {
    operationId: name,
    tags: [tag],
    summary: shape.about,
    ...(shape.scope === undefined ? {} : { description: `Scope \`${shape.scope}\`.`, security: [{ key: [] }] }),
    parameters: [
      ...parametersOf(shape.params, 'path', schemas),
      ...parametersOf(shape.query, 'query', schemas),
      ...(shape.mutation === true ? [IDEMPOTENCY_KEY] : []),
      ...(shape.contentType === 'text/event-stream' ? [LAST_EVENT_ID] : []),
    ],
    ...(shape.body === undefined
      ? {}
      : {
          requestBody: {
            required: shape.bodyOptional !== true,
            content: { 'application/json': { schema: schemaOf(shape.body, 'input', schemas) } },
          },
        }),
    responses: { [String(shape.status)]: success(shape, schemas), ...Object.fromEntries(refused) },
  };
}

const IDEMPOTENCY_KEY: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same key, sent again within 24 hours, gives the same reply and does nothing twice.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,160}$' },
};
const LAST_EVENT_ID: JsonObject = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The id of the last event that was read.',
  schema: { type: 'string' },
};

function success(shape: RouteShape, schemas: Record<string, Json>): JsonObject {
  const description = shape.status === 204 ? 'Done.' : 'As asked.';
  if (shape.contentType === 'text/event-stream') {
    const schema = schemaOf(frame, 'output', schemas);
    return {
      description: 'Each event has the type of its frame, the frame as JSON in `data`, and its cursor as `id`.',
      content: { 'text/event-stream': { schema } },
    };
  }
  if (shape.contentType !== undefined)
    return { description, content: { [shape.contentType]: { schema: { type: 'string' } } } };
  if (shape.reply === undefined) return { description };
  return { description, content: { 'application/json': { schema: schemaOf(shape.reply, 'output', schemas) } } };
}

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query', schemas: Record<string, Json>): Json[] {
  if (schema === undefined) return [];
  const whole = schemaOf(schema, 'input', schemas);
  const required = Array.isArray(whole['required']) ? whole['required'] : [];
  return Object.entries(isObject(whole['properties']) ? whole['properties'] : {}).map(([name, one]) => {
    const { description, ...rest } = isObject(one) ? one : {};
    return toJson({ name, in: place, required: required.includes(name), description, schema: rest });
  });
}

/** A schema as JSON Schema. Those with an id move into the components, and a reference stays. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, Json>): JsonObject {
  const made = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const override: unknown = z.globalRegistry.get(zodSchema)?.['override'];
      if (isObject(override)) {
        for (const key of ['anyOf', 'type', 'pattern', 'enum', 'items', 'minItems'] as const) delete jsonSchema[key];
        Object.assign(jsonSchema, override);
      }
      delete (jsonSchema as Record<string, unknown>)['override'];
      simplify(jsonSchema, io);
    },
  });
  const { $defs, id, ...rest } = toJson(made) as JsonObject; // a schema is an object
  for (const [name, one] of Object.entries(isObject($defs) ? $defs : {})) schemas[name] ??= hoisted(one);
  const bare = hoisted(rest) as JsonObject; // as it was
  if (typeof id !== 'string') return bare;
  schemas[id] ??= bare;
  return { $ref: `#/components/schemas/${id}` };
}

/** Takes out what is true and tells nobody anything. */
function simplify(schema: z.core.JSONSchema.BaseSchema, io: 'input' | 'output'): void {
  if (schema.format !== undefined) delete schema.pattern;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  // A reply may get more fields; a request may not.
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties;
}

function hoisted(value: Json): Json {
  if (Array.isArray(value)) return value.map(hoisted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value)
    .filter(([name, one]) => name !== '$schema' && !(name === 'id' && typeof one === 'string' && 'type' in value))
    .map(([name, one]): [string, Json] => [
      name,
      name === '$ref' && typeof one === 'string' ? one.replace('#/$defs/', '#/components/schemas/') : hoisted(one),
    ]);
  return Object.fromEntries(entries);
}
