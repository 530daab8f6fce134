import { z } from 'zod';
import { key, requiredKey } from './bundle-key.ts';

const text = z.string().min(1);

/** What a service is called: tools and selections begin with it. */
export const namespace = z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/);

/** What can be done with the objects of a service, such as `object.search`. */
export const operationName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z][A-Za-z0-9_-]*)*$/)
  .max(64);

/** Operations that change nothing, whoever provides them. */
export const READING_OPERATIONS: ReadonlySet<string> = new Set([
  ...['provider.about', 'provider.capabilities', 'object.list', 'object.search', 'object.get', 'object.schema'],
  'event.list',
]);

const shown = {
  label: key(text, 'What people call it.', { otherwise: "the provider's word, or the namespace" }),
  description: key(text, 'What it holds, in a sentence that the model reads.', { otherwise: "the provider's" }),
};

const moduleService = z.strictObject({
  kind: requiredKey(z.literal('module'), 'A service written for Treadle.'),
  module: requiredKey(text, 'A file in the folder of the bundle such as `./services/task.ts`, or an npm package.'),
  ...shown,
});

const bearer = z.strictObject({
  type: requiredKey(z.literal('bearer'), 'A fixed token, sent as `Authorization: Bearer`.'),
  token: requiredKey(text, 'The token, best from a variable such as `${TASKS_TOKEN}`.'),
});

const header = z.strictObject({
  type: requiredKey(z.enum(['header', 'api_key']), 'A fixed value in a header.'),
  header: key(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/), 'The name of the header.', { default: 'X-API-Key' }),
  value: requiredKey(text, 'Its value, best from a variable.'),
});

const basic = z.strictObject({
  type: requiredKey(z.literal('basic'), 'A name and a password.'),
  username: requiredKey(text, 'The name.'),
  password: requiredKey(z.string(), 'The password, best from a variable.'),
});

const account = z.strictObject({
  type: requiredKey(z.literal('account'), "The user's own account, as `Authorization: Bearer`."),
  provider: requiredKey(text, 'The account, by its id in `accounts`.'),
  claims: key(z.array(text), 'The rights that every operation needs there.', { otherwise: 'a connected account' }),
});

const auth = z.discriminatedUnion('type', [bearer, header, basic, account]).meta({ id: 'service_auth' });

const openapiService = z.strictObject({
  kind: requiredKey(z.literal('openapi'), 'A service that an OpenAPI document describes: 2.0, 3.0 or 3.1.'),
  document: requiredKey(text, 'The document: a file in the folder of the bundle, or an `https` address.'),
  base_url: key(z.url({ protocol: /^https?$/ }), 'Where requests go.', {
    otherwise: 'the first server of the document',
  }),
  operations: key(
    z.record(operationName, text),
    'By operation: what the document calls it, an `operationId` or a method and a path such as `GET /tasks/{id}`.',
    { otherwise: 'every operation of the document by its `operationId`' },
  ),
  auth: key(auth, 'How Treadle shows who it is.', { otherwise: 'not at all' }),
  headers: key(z.record(z.string(), z.string()), 'Further headers of every request.'),
  allow_hosts: key(
    z.array(text),
    'Hosts that may be asked although their address is a private one, such as `localhost` or `tasks.internal`.',
    { otherwise: 'none' },
  ),
  timeout_ms: key(z.int().min(100).max(600_000), 'Milliseconds that a request may take.', { default: 30_000 }),
  ...shown,
});

/** Who provides a namespace: `surfaces.as_consumer.named_services.<namespace>`. */
export const namedService = z.discriminatedUnion('kind', [moduleService, openapiService]).meta({ id: 'named_service' });
export type NamedService = z.infer<typeof namedService>;
export type ModuleService = z.infer<typeof moduleService>;
export type OpenApiService = z.infer<typeof openapiService>;
export type ServiceAuth = z.infer<typeof auth>;

export const DEFAULT_SERVICE_TIMEOUT_MS = 30_000;
