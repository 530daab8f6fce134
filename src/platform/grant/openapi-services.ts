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
import { codeOf, type Api } from '../../adapters/services/api.ts';
import { DocumentProblem, MOST_DOCUMENT_BYTES, readDocument } from '../../adapters/services/document.ts';
import { serverOf } from '../../adapters/services/operations.ts';
import { DEFAULT_SERVICE_TIMEOUT_MS, type OpenApiService } from '../../domain/service.ts';
import { insideFolder, readText } from '../bundle/bundle-files.ts';
import { loadedFrom, needsOf, type OperationsOptions } from './openapi-operations.ts';
import type { LoadedService, RecordedOperations } from './service-members.ts';

export interface OpenApiOptions extends OperationsOptions {
  readonly folder: string;
  readonly clock: Clock;
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
