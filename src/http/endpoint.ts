import type { z } from 'zod';
import { sha256 } from '../base/digest.ts';
import { TreadleError } from '../base/errors.ts';
import { canonicalJson, toJson, type Json } from '../base/json.ts';
import type { MaybePromise } from '../base/promise.ts';
import type { Caller } from '../platform/runs/caller.ts';
import { readJson } from './body.ts';
import type { HttpContext } from './context.ts';
import { checkedKey, effectKey, type Once } from './idempotency.ts';
import type { Identify } from './identify.ts';
import { Refusal, refusalOf } from './refusal.ts';
import type { Asked, RouteShape, RouteTable, Wire } from './wire.ts';

/** What a handler is given besides what was asked. */
export interface Situation {
  readonly caller: Caller;
  /** Derived from the request's `Idempotency-Key`: the effect under it comes about once. */
  readonly key: string | undefined;
  readonly context: HttpContext;
}

/** What a handler answers: the reply's body, and whether it had been given before. */
export interface Given<T> {
  readonly body: T;
  readonly repeated?: boolean | undefined;
}

type Reply<R extends RouteShape> = R['reply'] extends z.ZodType ? Given<Wire<R['reply']>> : undefined | Response;

export type Handlers<T extends RouteTable> = {
  readonly [K in keyof T]: (asked: Asked<T[K]>, situation: Situation) => MaybePromise<Reply<T[K]>>;
};

/** Differences between the surfaces. */
export interface Surface {
  readonly name: string;
  /** What is wrong with a body: 422, or 400 where everything malformed is. */
  readonly badBody: 400 | 422;
  readonly onlyKeys: boolean;
}

export interface EndpointPorts {
  readonly identify: Identify;
  readonly once: Once;
}

/** Anything a handler of any route may be. What it is given was parsed by that very route's schemas. */
export type AnyHandler = (
  asked: { readonly params: unknown; readonly query: unknown; readonly body: unknown },
  situation: Situation,
) => MaybePromise<Given<unknown> | undefined | Response>;

/** A route with its handler, as what answers a request: who, may they, how often, what exactly, and only then the work. */
export function createEndpoint(
  name: string,
  shape: RouteShape,
  handler: AnyHandler,
  surface: Surface,
  { identify, once }: EndpointPorts,
): (context: HttpContext) => Promise<Response> {
  const status = shape.status;

  function answer(context: HttpContext, body: string, repeated: boolean): Response {
    if (repeated) context.header('Idempotency-Replayed', 'true');
    if (status === 204) return context.body(null, 204);
    context.header('Content-Type', 'application/json');
    return context.body(body, status);
  }

  async function respond(context: HttpContext): Promise<Response> {
    const caller =
      shape.scope === undefined ? ANYBODY : await identify(context, { scope: shape.scope, onlyKeys: surface.onlyKeys });
    const params: unknown = context.req.param();
    const query = queryOf(context);
    const key = shape.mutation === true ? checkedKey(context.req.header('idempotency-key')) : undefined;
    const raw = shape.body === undefined ? undefined : await bodyOf(context, shape);
    const asked = {
      params: parse(shape.params, params, 400),
      query: parse(shape.query, query, 400),
      body: parse(shape.body, raw, surface.badBody),
    };
    if (key === undefined) {
      const given = await handler(asked, { caller, key, context });
      if (given instanceof Response) return given;
      return answer(context, textOf(given), given?.repeated === true);
    }
    const place = [caller.tenant, caller.userId, surface.name, name, canonicalJson(toJson(params))];
    const claim = { scope: place.join('\n'), key, fingerprint: sha256(canonicalJson(toJson([query, raw ?? null]))) };
    const { reply, repeated } = await once.run(claim, async () => {
      const given = await handler(asked, { caller, key: effectKey(claim), context });
      if (given instanceof Response) throw new TypeError(`${name} answers with more than can be kept`);
      return { reply: { status, body: textOf(given) }, repeated: given?.repeated === true };
    });
    return answer(context, reply.body, repeated);
  }

  return async (context) => {
    try {
      return await respond(context);
    } catch (problem) {
      const refusal = refusalOf(problem);
      // What a schema cannot say of a body is found later, and is as wrong as what it can.
      if (shape.body !== undefined && TreadleError.is(problem) && refusal.code === 'invalid_request')
        throw new Refusal('invalid_request', refusal.message, { ...refusal.detail, status: surface.badBody });
      if (refusal.status === 422 && surface.badBody === 400)
        throw new Refusal('invalid_request', refusal.message, { ...refusal.detail, cause: problem });
      throw refusal;
    }
  };
}

/** Who asks where nobody is asked who they are. */
const ANYBODY: Caller = { userId: '', tenant: '', scopes: new Set(), kind: 'user' };

function textOf(given: Given<unknown> | undefined): string {
  return given === undefined ? '' : JSON.stringify(given.body);
}

/** Every parameter as text; one that came twice is a list, which no schema takes. */
function queryOf(context: HttpContext): Record<string, string | readonly string[]> {
  const all = context.req.queries();
  return Object.fromEntries(
    Object.entries(all).map(([name, [one = '', ...more]]) => [name, more.length > 0 ? [one, ...more] : one]),
  );
}

async function bodyOf(context: HttpContext, shape: RouteShape): Promise<Json> {
  const body = await readJson(context.env.incoming);
  if (body !== undefined) return body;
  if (shape.bodyOptional === true) return {};
  throw new Refusal('invalid_request', 'A body is needed, as JSON.', { field: 'body' });
}

/** Throws `invalid_request`. Without a schema, nothing may have been sent. */
function parse(schema: z.ZodType | undefined, value: unknown, status: 400 | 422): unknown {
  if (schema === undefined) {
    const [field] = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    if (field === undefined) return undefined;
    throw new Refusal('invalid_request', `${field} is not known here.`, { field, status });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String) ?? [];
  if (issue?.code === 'unrecognized_keys') {
    const field = [...path, issue.keys[0] ?? ''].join('.');
    throw new Refusal('invalid_request', `${field} is not known here.`, { field, status });
  }
  const field = path.join('.') || 'body';
  throw new Refusal('invalid_request', `${field}: ${issue?.message ?? 'does not fit'}`, { field, status });
}
