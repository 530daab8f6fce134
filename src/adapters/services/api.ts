import { isPromise } from '../../base/promise.ts';
import { withoutSecrets } from '../../base/secrets.ts';
import { shortDigest } from '../../base/digest.ts';
import type { JsonObject } from '../../base/json.ts';
import type { OpenApiService, ServiceAuth } from '../../domain/service.ts';
import type { ToolContext, ToolReturn } from '../../kernel/running-tool.ts';
import { toolFailure } from '../../kernel/tool.ts';
import { GuardRefusal, type GuardedRequests } from '../net/guarded-requests.ts';
import type { ApiOperation } from './operations.ts';
import { requestOf } from './request.ts';
import { returned } from './reply.ts';

/** Bytes of one answer. The size policy of results cuts what is shown of it. */
const MOST_REPLY_BYTES = 8 * 1024 * 1024;

export interface Api {
  readonly namespace: string;
  readonly base: URL;
  readonly service: OpenApiService;
  readonly requests: GuardedRequests;
}

/** Names of the headers, in small letters, that are sent with every request. */
export function ownHeaders({ headers, auth }: OpenApiService): ReadonlySet<string> {
  return new Set([...Object.keys(headers ?? {}), ...Object.keys(fixedHeaders(auth))].map((name) => name.toLowerCase()));
}

/** Asks a service to carry out one operation. Whatever comes of it is a result or a failure that says what. */
export async function callApi(
  api: Api,
  operation: ApiOperation,
  args: JsonObject,
  context: ToolContext,
): Promise<ToolReturn> {
  const { namespace, base, service, requests } = api;
  const asked = requestOf(operation, base, args);
  if (typeof asked === 'string') return toolFailure('bad_arguments', asked);
  const own = { ...service.headers, ...(await authHeaders(service.auth, context)) };
  const clean = withoutSecrets([...Object.values(own), ...secretsOf(service.auth)]);
  const once = operation.effect === 'once' ? { 'idempotency-key': shortDigest(context.idempotencyKey) } : {};
  try {
    const reply = await requests.send({
      ...asked,
      headers: { accept: 'application/json, */*;q=0.5', ...once, ...asked.headers, ...own },
      secret: Object.keys(own),
      signal: context.signal,
      mostBytes: MOST_REPLY_BYTES,
    });
    return returned(namespace, reply, clean);
  } catch (error) {
    if (context.signal.aborted) throw error;
    if (error instanceof GuardRefusal) {
      return toolFailure('refused', `The service ${namespace} was not asked: ${error.message}.`, {
        uncertain: error.sent,
      });
    }
    const code = codeOf(error);
    const what = `The service ${namespace} cannot be reached${code === '' ? '' : ` (${code})`}.`;
    return toolFailure('unreachable', what, { uncertain: !NEVER_SENT.has(code) });
  }
}

/** What says that nobody was there to hear. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** The word of the system for what went wrong, wherever the library put it. */
export function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return '';
}

async function authHeaders(auth: ServiceAuth | undefined, { account }: ToolContext): Promise<Record<string, string>> {
  if (auth?.type !== 'account') return fixedHeaders(auth);
  if (account === undefined) throw new Error(`no ${auth.provider} account can be used here`);
  const opened = account();
  const { token } = isPromise(opened) ? await opened : opened;
  return { authorization: `Bearer ${token}` };
}

function fixedHeaders(auth: ServiceAuth | undefined): Record<string, string> {
  switch (auth?.type) {
    case 'bearer':
      return { authorization: `Bearer ${auth.token}` };
    case 'header':
    case 'api_key':
      return { [auth.header ?? 'X-API-Key']: auth.value };
    case 'basic':
      return { authorization: `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}` };
    case 'account':
      return { authorization: '' };
    case undefined:
      return {};
  }
}

function secretsOf(auth: ServiceAuth | undefined): readonly string[] {
  if (auth?.type === 'bearer') return [auth.token];
  return auth?.type === 'basic' ? [auth.password] : [];
}
