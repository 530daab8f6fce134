import type { Clock, Instant } from '../../base/clock.ts';
import { shortDigest } from '../../base/digest.ts';
import { TreadleError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import {
  createGuardedRequests,
  GuardRefusal,
  type GuardOptions,
  type GuardedRequests,
} from '../../adapters/net/guarded-requests.ts';
import { compileSchema } from '../../adapters/schema/ajv.ts';
import { callApi, codeOf, ownHeaders, type Api } from '../../adapters/services/api.ts';
import { DocumentProblem, MOST_DOCUMENT_BYTES, readDocument } from '../../adapters/services/document.ts';
import {
  operationsOf,
  serverOf,
  type ApiOperation,
  type RefusedOperation,
} from '../../adapters/services/operations.ts';
import type { Path } from '../../assembly/resolve.ts';
import { DEFAULT_SERVICE_TIMEOUT_MS, type OpenApiService } from '../../domain/service.ts';
import { insideFolder, readText } from '../bundle/bundle-files.ts';
import type { CompiledTool } from './catalog.ts';
import type { Declared } from '../bundle/declare.ts';
import { didYouMean, oneOf } from '../bundle/problems.ts';
import type { LoadedService, RecordedOperations } from './service-members.ts';

export interface OpenApiOptions {
  readonly namespace: string;
  readonly service: OpenApiService;
  /** Where the bundle declares it. */
  readonly at: Path;
  readonly declared: Declared;
  readonly folder: string;
  readonly clock: Clock;
  /** What is odd and no mistake. */
  readonly tell: (place: string, text: string) => void;
  readonly lookup?: GuardOptions['lookup'];
  /** In place of a document elsewhere. */
  readonly recorded?: RecordedOperations | undefined;
}

/** A service of an OpenAPI document. */
export interface OpenApiConnection {
  /** As last known. */
  readonly known: () => LoadedService;
  /** The same after asking for the document again, where that is due. Never rejects. Absent for one in a file. */
  readonly now: (() => LoadedService | Promise<LoadedService>) | undefined;
  /** Of the file. */
  readonly digest: string | undefined;
  close(): Promise<void>;
}

/** Milliseconds until a document that could not be had is asked for again. */
const RETRY_MS = 30_000;
const MOST_DOCUMENT_MS = 10_000;

/**
 * Connects a service. A document that is wrong is the operator's mistake: throws `service_document`, `bundle_unreadable`
 * or `bundle_unknown_name`. One that cannot be had now leaves the service inactive, and is asked for again later.
 */
export async function connectOpenApi(options: OpenApiOptions): Promise<OpenApiConnection> {
  const { namespace, service, at, declared, folder, clock } = options;
  const requests = createGuardedRequests({
    allowHosts: service.allow_hosts,
    ...(options.lookup && { lookup: options.lookup }),
  });
  const place = declared.place([...at, 'document']);
  const from = /^https?:/i.test(service.document) ? URL.parse(service.document) : undefined;
  const shown = declared.quoted([...at, 'document'], service.document);
  try {
    if (from === undefined) {
      const file = insideFolder(folder, service.document, place, shown);
      const text = readText(file, place, MOST_DOCUMENT_BYTES);
      const loaded = await build(text, undefined, 0);
      return { known: () => loaded, now: undefined, digest: shortDigest(text), close: () => requests.close() };
    }
    if (from === null) throw problem('no address');
    if (options.recorded !== undefined) {
      const loaded = recordedAs(options.recorded(namespace), options);
      return { known: () => loaded, now: undefined, digest: undefined, close: () => requests.close() };
    }
    return await connectFar(from);
  } catch (error) {
    await requests.close();
    throw error;
  }

  function problem(found: string, cause?: unknown): TreadleError {
    return new TreadleError('service_document', { place, found: `${shown}: ${found}`, cause });
  }

  async function build(text: string, address: URL | undefined, version: number): Promise<LoadedService> {
    try {
      const document = await readDocument(text);
      const api: Api = { namespace, service, requests, base: baseOf(document, address, options) };
      return { ...loadedFrom(document, api, options), isRemote: address !== undefined, version };
    } catch (error) {
      if (error instanceof DocumentProblem) throw problem(error.message, error);
      throw error;
    }
  }

  async function connectFar(address: URL): Promise<OpenApiConnection> {
    let retryAt: Instant = 0;
    let asking: Promise<LoadedService> | undefined;
    const down = (why: string, version: number): LoadedService => {
      retryAt = clock.now() + RETRY_MS;
      const { label = namespace, description = '' } = service;
      return { namespace, label, description, operations: [], isRemote: true, down: why, version };
    };
    const fetched = async (version: number): Promise<LoadedService> => {
      const text = await documentAt(address, service, requests);
      return text.ok ? build(text.value, address, version) : down(text.why, version);
    };
    let current = await fetched(0);
    return {
      known: () => current,
      now() {
        if (current.down === undefined || clock.now() < retryAt) return current;
        asking ??= fetched(current.version + 1)
          .catch((error: unknown) =>
            down(`has a document that cannot be used: ${messageOf(error)}`, current.version + 1),
          )
          .then((next) => {
            asking = undefined;
            return (current = next.down === current.down ? { ...next, version: current.version } : next);
          });
        return asking;
      },
      digest: undefined,
      close: () => requests.close(),
    };
  }
}

type Got = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly why: string };

async function documentAt(
  url: URL,
  { headers, timeout_ms: ms = DEFAULT_SERVICE_TIMEOUT_MS }: OpenApiService,
  requests: GuardedRequests,
): Promise<Got> {
  const signal = AbortSignal.timeout(Math.min(ms, MOST_DOCUMENT_MS));
  try {
    const accept = 'application/json, application/yaml, text/yaml, */*;q=0.5';
    const reply = await requests.send({
      url,
      headers: { accept, ...headers },
      secret: Object.keys(headers ?? {}),
      signal,
      mostBytes: MOST_DOCUMENT_BYTES,
    });
    if (reply.status !== 200)
      return { ok: false, why: `cannot be used: its document is answered with ${reply.status}` };
    return { ok: true, value: new TextDecoder().decode(reply.bytes) };
  } catch (error) {
    if (error instanceof GuardRefusal) return { ok: false, why: `cannot be used: ${error.message}` };
    const code = signal.aborted ? 'it took too long' : codeOf(error);
    return { ok: false, why: `cannot be reached${code === '' ? '' : ` (${code})`}` };
  }
}

/** Where requests go. A document from elsewhere does not decide who gets the operator's secrets. */
function baseOf(document: JsonObject, address: URL | undefined, { service, at, declared }: OpenApiOptions): URL {
  if (service.base_url !== undefined) return new URL(service.base_url);
  const place = declared.place([...at, 'document']);
  const server = serverOf(document, address);
  const hint = 'set base_url';
  if (server === undefined) {
    throw new TreadleError('service_document', {
      place,
      found: 'a document that does not say where its server is',
      hint,
    });
  }
  const isSecret = service.auth !== undefined || service.headers !== undefined;
  if (isSecret && address !== undefined && server.origin !== address.origin) {
    const found = `a document of ${address.origin} whose server is ${server.origin}`;
    throw new TreadleError('service_document', { place, found, wanted: 'to be told whom to show who we are', hint });
  }
  return server;
}

/** A service as a log tells of it. */
function recordedAs(known: ReturnType<RecordedOperations>, { namespace, service }: OpenApiOptions): LoadedService {
  const { said } = known;
  const named = Object.keys(service.operations ?? {});
  const operations = known.operations.map((one) => ({
    ...one,
    own: named.find((own) => own.replaceAll('.', '_') === one.own) ?? one.own,
  }));
  const about = service.description === undefined ? '' : `. ${service.description}`;
  const head = service.label === undefined ? '' : `${service.label}. `;
  return {
    namespace,
    label: service.label ?? (said.endsWith(about) ? said.slice(0, said.length - about.length) : namespace),
    description: service.description ?? (head !== '' && said.startsWith(head) ? said.slice(head.length) : ''),
    operations,
    ...needsOf(service),
    isRemote: true,
    version: 0,
  };
}

function needsOf({ auth }: OpenApiService): Pick<LoadedService, 'needs'> {
  return auth?.type === 'account' ? { needs: { provider: auth.provider, claims: auth.claims ?? [] } } : {};
}

type Loaded = Pick<LoadedService, 'namespace' | 'label' | 'description' | 'operations' | 'needs'>;

function loadedFrom(document: JsonObject, api: Api, options: OpenApiOptions): Loaded {
  const { namespace, service, at, declared, tell } = options;
  const { operations, refused } = operationsOf(document, ownHeaders(service));
  const chosen =
    service.operations === undefined ? allOf(operations) : namedOf(service.operations, operations, refused, options);
  const place = declared.place([...at, 'document']);
  if (service.operations === undefined) for (const { id, why } of refused) tell(place, `${id} is left out: ${why}`);
  const taken = new Set<string>();
  const compiled: CompiledTool[] = [];
  for (const [own, operation] of chosen) {
    const name = own.replaceAll('.', '_');
    if (taken.has(name)) tell(place, `${operation.id} is left out: another operation has its name`);
    else compiled.push(compiledFrom(own, operation, api));
    taken.add(name);
  }
  const { title, description } = infoOf(document);
  return {
    namespace,
    label: service.label ?? title ?? namespace,
    description: service.description ?? description ?? '',
    operations: compiled,
    ...needsOf(service),
  };
}

type Chosen = readonly (readonly [own: string, operation: ApiOperation])[];

/** By the names of the document, as words that selections can name. */
function allOf(operations: readonly ApiOperation[]): Chosen {
  return operations.map((operation) => [wordOf(operation.id), operation]);
}

function wordOf(id: string): string {
  const word = id
    .replace(/[^A-Za-z0-9_.-]+/g, '_')
    .replace(/\.+/g, '.')
    .replace(/^[^A-Za-z]+|[._]+$/g, '')
    .replace(/\.(?![A-Za-z])/g, '_')
    .slice(0, 64);
  return word === '' ? 'operation' : word;
}

function namedOf(
  names: Readonly<Record<string, string>>,
  operations: readonly ApiOperation[],
  refused: readonly RefusedOperation[],
  { at, declared }: OpenApiOptions,
): Chosen {
  return Object.entries(names).map(([own, written]) => {
    const is = ({ id, route }: { readonly id: string; readonly route: string }): boolean =>
      id === written || route.toLowerCase() === written.toLowerCase().replace(/\s+/, ' ');
    const found = operations.find(is);
    if (found !== undefined) return [own, found];
    const place = declared.place([...at, 'operations', own]);
    const why = refused.find(is)?.why;
    if (why !== undefined)
      throw new TreadleError('service_document', { place, found: `${written}, which cannot be used: ${why}` });
    const known = operations.map(({ id }) => id);
    const hint = didYouMean(written, known);
    throw new TreadleError('bundle_unknown_name', {
      place,
      found: `no operation ${declared.quoted([...at, 'operations', own], written)} in the document`,
      wanted: hint === undefined ? oneOf(known) : undefined,
      hint,
    });
  });
}

function compiledFrom(own: string, operation: ApiOperation, api: Api): CompiledTool {
  const { inputSchema, description, effect } = operation;
  let check: ReturnType<typeof compileSchema> | undefined;
  return {
    own,
    definition: { description, inputSchema, effect, timeoutMs: api.service.timeout_ms ?? DEFAULT_SERVICE_TIMEOUT_MS },
    hands: {
      validate: (args) => (check ??= compileSchema(inputSchema, own))(args),
      run: (args, context) => callApi(api, operation, args, context),
    },
  };
}

const LONGEST_DESCRIPTION = 300;

function infoOf({ info }: JsonObject): { readonly title?: string; readonly description?: string } {
  if (typeof info !== 'object' || info === null || Array.isArray(info)) return {};
  const { title, description } = info as JsonObject; // neither a list nor a primitive
  const [first = ''] = typeof description === 'string' ? description.trim().split('\n') : [];
  return {
    ...(typeof title === 'string' ? { title: title.replace(/\.$/, '') } : {}),
    ...(first === '' ? {} : { description: first.slice(0, LONGEST_DESCRIPTION).toWellFormed() }),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
