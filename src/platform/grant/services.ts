import type { Clock } from '../../base/clock.ts';
import { isObject } from '../../base/json.ts';
import type { MaybePromise } from '../../base/promise.ts';
import { TreadleError } from '../../base/errors.ts';
import { consumer, inventoryLevels, resolve, type Path } from '../../assembly/resolve.ts';
import { operationName, READING_OPERATIONS, type ModuleService } from '../../domain/service.ts';
import { compileTool, type CompiledTool } from './catalog.ts';
import type { Readable } from '../bundle/declare.ts';
import type { OpenApiConnection } from './openapi-services.ts';
import { didYouMean, oneOf, type Notices, type Problems } from '../bundle/problems.ts';
import type { LoadedService, RecordedOperations } from './service-members.ts';
import { importModule } from './tool-modules.ts';

/** The services of one bundle. */
export interface Services {
  /** As last known. Undefined for one that there is not, or that could not be loaded. */
  known(namespace: string): LoadedService | undefined;
  /** The same after asking for its document, where that is due. Never rejects. */
  now(namespace: string): MaybePromise<LoadedService | undefined>;
  /** Those that are elsewhere. */
  readonly remote: ReadonlySet<string>;
  /** By the name in the bundle: the digest of each file. */
  readonly digests: Readonly<Record<string, string>>;
  /** Files of modules, and what they import. */
  readonly files: readonly string[];
  close(): Promise<void>;
}

export interface ServicesOptions {
  readonly declared: Readable;
  readonly folder: string;
  readonly problems: Problems;
  readonly notices: Notices;
  readonly clock: Clock;
  readonly recorded?: RecordedOperations | undefined;
}

/** Loads every service that any of the agents is granted, each once. Modules are imported: their code runs. */
export async function loadServices(agents: readonly string[], options: ServicesOptions): Promise<Services> {
  const { declared, problems } = options;
  const { block, from } = consumer(declared.bundle);
  const services = block?.named_services ?? {};
  const loaded = new Map<string, LoadedService>();
  const connections = new Map<string, OpenApiConnection>();
  const digests: Record<string, string> = {};
  const files: string[] = [];
  for (const [namespace, path] of namespacesOf(agents, declared)) {
    const service = Object.hasOwn(services, namespace) ? services[namespace] : undefined;
    if (service === undefined) {
      if (!declared.isPartial) unknown(namespace, path, Object.keys(services), options);
      continue;
    }
    const at = [...from, 'named_services', namespace];
    try {
      if (service.kind === 'module') {
        loaded.set(namespace, await moduleService(namespace, service, [...at, 'module'], options, digests, files));
        continue;
      }
      const { connectOpenApi } = await import('./openapi-services.ts'); // loaded with the first document
      const tell = (place: string, text: string): void => options.notices.add(place, text);
      const connection = await connectOpenApi({ ...options, namespace, service, at, tell });
      connections.set(namespace, connection);
      const { down } = connection.known();
      if (down !== undefined) tell(declared.place([...at, 'document']), `the service ${namespace} ${down}`);
      if (connection.digest !== undefined) digests[service.document] = connection.digest;
    } catch (error) {
      problems.take(error);
    }
  }
  const known = (namespace: string): LoadedService | undefined =>
    loaded.get(namespace) ?? connections.get(namespace)?.known();
  return {
    known,
    now: (namespace) => connections.get(namespace)?.now?.() ?? known(namespace),
    remote: new Set([...connections].flatMap(([namespace, { now }]) => (now === undefined ? [] : [namespace]))),
    digests,
    files,
    async close() {
      await Promise.all([...connections.values()].map((one) => one.close()));
    },
  };
}

/** The namespaces that any agent is granted, each with the first place that names it. */
function namespacesOf(agents: readonly string[], { bundle }: Readable): ReadonlyMap<string, Path> {
  const found = new Map<string, Path>();
  for (const agent of agents) {
    const tools = resolve(inventoryLevels(bundle, agent), 'tools');
    for (const [index, entry] of (tools?.value ?? []).entries()) {
      if (entry.kind !== 'named_service') continue;
      for (const namespace of Object.keys(entry.namespaces)) {
        if (!found.has(namespace)) found.set(namespace, [...(tools?.from ?? []), index, 'namespaces', namespace]);
      }
    }
  }
  return found;
}

function unknown(
  namespace: string,
  path: Path,
  known: readonly string[],
  { declared, problems }: ServicesOptions,
): void {
  const hint = didYouMean(namespace, known);
  problems.add('bundle_unknown_name', {
    place: declared.place(path),
    found: `no service ${namespace} in surfaces.as_consumer.named_services`,
    wanted: hint === undefined && known.length > 0 ? oneOf(known) : undefined,
    hint: hint ?? (known.length === 0 ? `add ${namespace} there, with who provides it` : undefined),
  });
}

async function moduleService(
  namespace: string,
  service: ModuleService,
  at: Path,
  { declared, folder }: ServicesOptions,
  digests: Record<string, string>,
  files: string[],
): Promise<LoadedService> {
  const place = declared.place(at);
  const shown = declared.quoted(at, service.module);
  const { module, digest, files: read } = await importModule(service.module, folder, place, shown);
  digests[service.module] = digest;
  files.push(...read);
  const given = isObject(module) ? (module['service'] ?? module) : undefined;
  const operations = isObject(given) ? given['operations'] : undefined;
  if (!isObject(given) || !isObject(operations) || Object.keys(operations).length === 0) {
    throw new TreadleError('tool_module', {
      place,
      found: `${shown}, which exports no service`,
      wanted: 'an export called service, with operations',
      hint: "write export const service = defineService({ operations: { 'object.get': defineOperation({ … }) } })",
    });
  }
  const said = (key: 'label' | 'description', otherwise: string): string => {
    const text = service[key] ?? given[key];
    return typeof text === 'string' && text.trim() !== '' ? text.trim() : otherwise;
  };
  return {
    namespace,
    label: said('label', namespace),
    description: said('description', ''),
    operations: distinct(
      Object.entries(operations).map(([own, spec]) => operationOf(own, spec, `${place}: ${shown} ${own}`)),
      place,
    ),
    isRemote: false,
    version: 0,
  };
}

function operationOf(own: string, spec: unknown, place: string): CompiledTool {
  if (!operationName.safeParse(own).success) {
    const wanted = 'words of letters, digits, _ and - with dots between, such as object.search';
    throw new TreadleError('tool_module', { place, found: `the operation ${JSON.stringify(own)}`, wanted });
  }
  const effect = READING_OPERATIONS.has(own) ? { effect: 'read' } : {};
  const tool = isObject(spec) ? { ...effect, ...spec, name: own.replaceAll('.', '_') } : spec;
  return { ...compileTool(tool, place), own };
}

/** The model sees a `_` for each dot: two that differ in these alone would be one. */
export function distinct(operations: readonly CompiledTool[], place: string): readonly CompiledTool[] {
  const seen = new Map<string, string>();
  for (const { own } of operations) {
    const name = own.replaceAll('.', '_');
    const first = seen.get(name);
    if (first !== undefined) {
      const found = `operations ${first} and ${own}, which are one name to a model`;
      throw new TreadleError('tool_module', { place, found, wanted: 'names that differ in more than dots' });
    }
    seen.set(name, own);
  }
  return operations;
}
