import { TreadleError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { compileSchema } from '../../adapters/schema/ajv.ts';
import { callApi, ownHeaders, type Api } from '../../adapters/services/api.ts';
import { operationsOf, type ApiOperation, type RefusedOperation } from '../../adapters/services/operations.ts';
import type { Path } from '../../assembly/resolve.ts';
import { DEFAULT_SERVICE_TIMEOUT_MS, type OpenApiService } from '../../domain/service.ts';
import type { Declared } from '../bundle/declare.ts';
import { didYouMean, oneOf } from '../bundle/problems.ts';
import type { CompiledTool } from './catalog.ts';
import type { LoadedService } from './service-members.ts';

/** A service, and where it is declared. */
export interface OperationsOptions {
  readonly namespace: string;
  readonly service: OpenApiService;
  /** Where the bundle declares it. */
  readonly at: Path;
  readonly declared: Declared;
  /** What is odd and no mistake. */
  readonly tell: (place: string, text: string) => void;
}

/** The account that its operations need. */
export function needsOf({ auth }: OpenApiService): Pick<LoadedService, 'needs'> {
  return auth?.type === 'account' ? { needs: { provider: auth.provider, claims: auth.claims ?? [] } } : {};
}

type Loaded = Pick<LoadedService, 'namespace' | 'label' | 'description' | 'operations' | 'needs'>;

/** The operations that a document has and the bundle names, as tools. Throws what `connectOpenApi` throws. */
export function loadedFrom(document: JsonObject, api: Api, options: OperationsOptions): Loaded {
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
  { at, declared }: OperationsOptions,
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
