import { TreadleError } from '../../base/errors.ts';
import { canonicalJson, isObject, toJson, type Json } from '../../base/json.ts';
import { consumer } from '../../assembly/resolve.ts';
import type { Bundle } from '../../domain/bundle.ts';
import { declare } from './declare.ts';
import type { Environment } from './environment.ts';
import type { LoadedBundle, LoadOptions } from './load.ts';
import { notAsked, serverId, type McpServers } from '../grant/mcp-entry.ts';
import { BundleError, Problems } from './problems.ts';

/** An edit of a bundle that nobody has saved, to compare with what runs. */
export interface EditedBundle {
  readonly loaded: LoadedBundle;
  /** What could not be looked at, in sentences. */
  readonly notes: readonly string[];
  /** A text in which the values of variables that the edit names stand by their names. */
  readonly masked: (text: string) => string;
}

export interface EditedOptions {
  readonly text: string;
  readonly running: LoadedBundle;
  readonly environment: Environment;
  /** Loads the file of the bundle with some other options. */
  readonly load: (options: Pick<LoadOptions, 'text' | 'servers' | 'recorded'>) => Promise<LoadedBundle>;
  /** What stands in for servers and services: none is asked, not even what the running bundle knows of it. */
  readonly recorded?: Recorded | undefined;
}

/** What a log says of servers and services. */
export type Recorded = Required<Pick<LoadOptions, 'servers' | 'recorded'>>;

/** What a bundle may be as text. */
const MOST_CHARACTERS = 1_000_000;

/**
 * Loads an edit as far as that can be done for somebody who is not at this machine: no program is started, no module is
 * imported and no service is asked that the running bundle does not use already. Throws `bundle_invalid`, with all that is
 * wrong in `data.problems`.
 */
export async function editedBundle({
  text,
  running,
  environment,
  load,
  recorded,
}: EditedOptions): Promise<EditedBundle> {
  const masked = maskOf(text, environment);
  const short = (words: string): string => masked(words.replaceAll(running.file, 'line').replaceAll('line:', 'line '));
  try {
    if (text.length > MOST_CHARACTERS)
      throw new TreadleError('bundle_invalid', { found: `${text.length} characters`, wanted: `${MOST_CHARACTERS}` });
    const problems = new Problems();
    const { bundle, isPartial } = declare(text, running.file, environment, problems);
    // What does not fit is told by loading, which then imports nothing either.
    if (!isPartial) refuseStrangers(bundle, running.bundle);
    problems.throwIfAny(running.file);
    if (recorded !== undefined) return { loaded: await load({ text, ...recorded }), notes: [], masked };
    const { servers, notes } = sharedServers(bundle, running);
    return { loaded: await load({ text, servers }), notes, masked };
  } catch (error) {
    if (!TreadleError.is(error)) throw error;
    const all = error instanceof BundleError ? error.problems : [error];
    throw new TreadleError('bundle_invalid', {
      found: all.length === 1 ? 'one mistake' : `${all.length} mistakes`,
      hint: short(all[0]?.message ?? ''),
      data: { problems: all.map(({ message }) => short(message)) },
      cause: error,
    });
  }
}

/** Modules, and services elsewhere, that the running bundle does not have. */
function refuseStrangers(edited: Bundle, running: Bundle): void {
  const known = new Set(modulesOf(toJson(running)));
  const strange = modulesOf(toJson(edited)).filter((module) => !known.has(module));
  const services = (bundle: Bundle): Readonly<Record<string, unknown>> => consumer(bundle).block?.named_services ?? {};
  const before = services(running);
  for (const [name, service] of Object.entries(services(edited))) {
    const isModule = isObject(service) && service['kind'] === 'module';
    if (!isModule && !same(service, before[name])) strange.push(`the service ${name}`);
  }
  if (strange.length === 0) return;
  throw new TreadleError('bundle_not_supported', {
    found: `${strange.join(', ')}, which is not loaded here yet`,
    hint: 'save the edit where the server runs, and ask `treadle plan` there',
  });
}

function modulesOf(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(modulesOf);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    key === 'module' && typeof part === 'string' ? (part.startsWith('builtin/') ? [] : [part]) : modulesOf(part),
  );
}

/** The servers of the running bundle, where the edit declares them the same. Others are not asked. */
function sharedServers(
  edited: Bundle,
  { bundle, servers }: LoadedBundle,
): { readonly servers: McpServers; readonly notes: readonly string[] } {
  const [now, before] = [edited, bundle].map((one) => consumer(one).block?.mcp?.services ?? {});
  const ids = Object.keys(now ?? {});
  const isShared = (id: string): boolean => same(now?.[id], before?.[id]);
  return {
    servers: {
      ids,
      group: (entry, asker) =>
        isShared(serverId(entry)) ? servers.group(entry, asker) : { ...notAsked(entry), version: 0 },
      needs: (entry) => (isShared(serverId(entry)) ? servers.needs(entry) : undefined),
      hand: () => undefined,
      health: () => [],
      ask: () => Promise.resolve(false),
      oddities: () => [],
      close: () => Promise.resolve(),
    },
    notes: ids
      .filter((id) => !isShared(id))
      .map((id) => `the MCP server ${id} is new or reached otherwise: it was not asked, so its tools are not compared`),
  };
}

function same(one: unknown, other: unknown): boolean {
  return other !== undefined && canonicalJson(toJson(one)) === canonicalJson(toJson(other));
}

/** Shorter values stand in too many words by chance. */
const LEAST_SECRET = 4;

/** Whoever writes an edit may name any variable, and must not read its value in what comes back. */
function maskOf(text: string, environment: Environment): (text: string) => string {
  const values = [...text.matchAll(/\$\{([A-Za-z_]\w*)/g)].flatMap(([, name = '']) => {
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    return value === undefined || value.length < LEAST_SECRET ? [] : [[value, name] as const];
  });
  values.sort(([left], [right]) => right.length - left.length);
  return (words) => values.reduce((known, [value, name]) => known.replaceAll(value, `\${${name}}`), words);
}
