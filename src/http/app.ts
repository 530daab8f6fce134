import { Hono } from 'hono';
import { cors } from 'hono/cors';
import type { Images } from '../adapters/net/images.ts';
import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { MaybePromise } from '../base/promise.ts';
import type { Logger } from '../kernel/logger.ts';
import type { ControlStore } from '../kernel/stores.ts';
import type { Host } from '../platform/hosting/host.ts';
import { agUiHandlers, agUiRoutes } from './ag-ui/routes.ts';
import { refuseStrangers, type BrowserRules } from './browser.ts';
import type { HttpContext, HttpEnv } from './context.ts';
import { createCredentials } from './credentials.ts';
import { createEndpoint, type AnyHandler, type EndpointPorts, type Surface } from './endpoint.ts';
import type { Figures } from './figures.ts';
import { createIdentify } from './identify.ts';
import { createOnce } from './idempotency.ts';
import { mcpHandlers, mcpRoutes } from './mcp/routes.ts';
import { createTokenReader, type OidcOptions } from './oidc.ts';
import { createRateLimit, type RateOptions } from './rate.ts';
import { Refusal, refusalOf } from './refusal.ts';
import { servePage } from './page.ts';
import { answerRefusal, CORS_HEADERS, setSafeHeaders } from './reply.ts';
import { accountHandlers, CALLBACK } from './routes/accounts.ts';
import { allowanceHandlers } from './routes/allowances.ts';
import { noteHandlers } from './routes/notes.ts';
import { imageHandlers } from './routes/images.ts';
import { keyHandlers } from './routes/keys.ts';
import { nexustradeHandlers } from './routes/nexustrade.ts';
import { operateHandlers } from './routes/operate.ts';
import { operationHandlers } from './routes/operations.ts';
import { runHandlers } from './routes/runs.ts';
import { selectionHandlers } from './routes/selections.ts';
import { createStreams, type StreamLimits, type Streams } from './streams.ts';
import {
  accountRoutes,
  allowanceRoutes,
  noteRoutes,
  API,
  imageRoutes,
  NEXUSTRADE_API,
  keyRoutes,
  nexustradeRoutes,
  operateRoutes,
  operationRoutes,
  runRoutes,
  selectionRoutes,
  type RouteTable,
} from './wire.ts';

export interface AppOptions extends BrowserRules {
  readonly host: Pick<Host, 'runs' | 'agents' | 'selections' | 'accounts' | 'allowances' | 'notes' | 'operate'>;
  readonly control: ControlStore;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly version: string;
  /** Rejects while requests cannot be served. */
  readonly check: () => MaybePromise<unknown>;
  readonly oidc?: OidcOptions | undefined;
  readonly rate?: Partial<RateOptions> | undefined;
  readonly streamLimits?: Partial<StreamLimits> | undefined;
  readonly figures?: Figures | undefined;
  /** Fetches images that people ask to see; none are shown when absent. */
  readonly images?: Images | undefined;
  /** Folder of the built page; none is shown when absent. */
  readonly page?: string | undefined;
}

export interface App {
  readonly hono: Hono<HttpEnv>;
  readonly streams: Streams;
  /** Nothing new is begun: every request but those of operators is refused, and every stream ends. */
  drain(): void;
}

const RATE: RateOptions = { perSecond: 200, burst: 2000 };
const STREAMS: StreamLimits = { total: 10_000, perCaller: 10_000, heartbeatMs: 10_000, stallMs: 60_000 };

const CANONICAL: Surface = { name: 'runs', badBody: 422, onlyKeys: false };
const NEXUSTRADE: Surface = { name: 'nexustrade', badBody: 400, onlyKeys: true };
const PROTOCOLS: Surface = { name: 'protocols', badBody: 422, onlyKeys: false };
const OPERATIONS: Surface = { name: 'operations', badBody: 400, onlyKeys: false };

const REQUEST_ID = /^[\w.:-]{1,64}$/;

const HEALTH = '/health';

/** Every route of both surfaces, and what all of them share. */
export function createApp(options: AppOptions): App {
  const { host, control, clock, ids, logger, figures } = options;
  const tokens = options.oidc === undefined ? undefined : createTokenReader(options.oidc);
  const credentials = createCredentials({ keys: control, clock, tokens });
  const ports: EndpointPorts = {
    identify: createIdentify(credentials, createRateLimit(clock, { ...RATE, ...options.rate })),
    once: createOnce(control, ids.next('server'), logger),
  };
  const streams = createStreams({ clock, logger }, { ...STREAMS, ...options.streamLimits }, (open) =>
    figures?.streams(open),
  );
  const hono = new Hono<HttpEnv>();
  let draining = false;

  hono.use(async (context, next) => {
    const began = clock.now();
    const given = context.req.header('x-request-id');
    context.set('requestId', given !== undefined && REQUEST_ID.test(given) ? given : ids.next('req'));
    context.set('route', 'none');
    setSafeHeaders(context);
    await next();
    const request = {
      route: context.get('route'),
      method: context.req.method,
      status: context.res.status,
      ms: clock.now() - began,
    };
    figures?.answered(request);
    logger.debug('request', { request: context.get('requestId'), by: context.get('who'), ...request });
  });
  if (options.cors.length > 0) hono.use(cors({ origin: [...options.cors], maxAge: 600, ...CORS_HEADERS }));
  hono.use(async (context, next) => {
    // Whether the process lives is asked by nobody's right, and whatever is wrong with the store.
    if (context.req.path !== HEALTH && (await credentials.isOpen())) {
      const { incoming } = context.env;
      const site = incoming.headers['sec-fetch-site'];
      refuseStrangers(
        {
          host: incoming.headers.host ?? '',
          origin: incoming.headers.origin,
          // The authorization server sends the browser back; a sealed state says who began.
          site: typeof site === 'string' && context.req.path !== CALLBACK ? site : undefined,
        },
        options,
      );
    }
    await next();
  });

  function serve(
    prefix: string,
    table: RouteTable,
    handlers: Readonly<Record<string, unknown>>,
    surface: Surface,
  ): void {
    const methods = new Map<string, string[]>();
    for (const [name, shape] of Object.entries(table)) {
      const handler = handlers[name] as AnyHandler; // of this table, whose type says that each has its own
      const endpoint = createEndpoint(name, shape, handler, surface, ports);
      const path = `${prefix}${shape.path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
      methods.set(path, [...(methods.get(path) ?? []), shape.method]);
      hono.on(shape.method, path, (context) => {
        context.set('route', name);
        if (draining && surface !== OPERATIONS)
          throw new Refusal('shutting_down', undefined, { retryAfter: 2, headers: { connection: 'close' } });
        return endpoint(context);
      });
    }
    for (const [path, known] of methods) {
      const allow = [...known, ...(known.includes('GET') ? ['HEAD'] : [])].join(', ');
      hono.all(path, () => {
        throw new Refusal('method_not_allowed', undefined, { headers: { allow } });
      });
    }
  }

  serve(API, runRoutes, runHandlers(host, streams), CANONICAL);
  serve(API, imageRoutes, imageHandlers(host, options.images), CANONICAL);
  serve(API, selectionRoutes, selectionHandlers(host), CANONICAL);
  const callerOf = (authorization: string | undefined) => credentials.callerOf(authorization, {});
  const accountOptions = { accounts: host.accounts, callerOf, publicUrl: options.publicUrl };
  serve(API, accountRoutes, accountHandlers(accountOptions), CANONICAL);
  serve(API, allowanceRoutes, allowanceHandlers(host), CANONICAL);
  serve(API, noteRoutes, noteHandlers(host), CANONICAL);
  serve(API, operateRoutes, operateHandlers(host), CANONICAL);
  serve(API, keyRoutes, keyHandlers({ keys: control, credentials, clock }), CANONICAL);
  serve(NEXUSTRADE_API, nexustradeRoutes, nexustradeHandlers(host), NEXUSTRADE);
  const mcp = mcpHandlers({ runs: host.runs, agents: () => host.agents(), clock, version: options.version }, logger);
  serve('', agUiRoutes, agUiHandlers(host, streams), PROTOCOLS);
  serve('', mcpRoutes, mcp.handlers, PROTOCOLS);
  const operations = operationHandlers({
    figures,
    version: options.version,
    publicUrl: options.publicUrl,
    check: async () => {
      if (draining) throw new Refusal('shutting_down');
      await options.check();
    },
  });
  serve('', operationRoutes, operations, OPERATIONS);
  if (options.page !== undefined) servePage(hono, options.page);

  hono.notFound((context) => answerRefusal(context, new Refusal('not_found', 'There is no such path.')));
  hono.onError((problem, context: HttpContext) => {
    const refusal = refusalOf(problem);
    if (refusal.status >= 500 && refusal.code !== 'shutting_down') {
      const error = refusal.cause ?? refusal;
      logger.error('a request failed', { request: context.get('requestId'), route: context.get('route'), error });
    }
    return answerRefusal(context, refusal);
  });

  return {
    hono,
    streams,
    drain() {
      draining = true;
      streams.close();
      void mcp.close();
    },
  };
}
