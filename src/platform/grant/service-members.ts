import type { Path } from '../../assembly/resolve.ts';
import type { Claim, GrantedService, OpenGroup } from '../../domain/grant.ts';
import type { NamespaceGrant, ServiceTools } from '../../domain/inventory.ts';
import type { CompiledTool } from './catalog.ts';
import type { Declared } from '../bundle/declare.ts';
import type { Member } from './member.ts';
import { didYouMean, oneOf, type Problems } from '../bundle/problems.ts';

/** A service as it is known now. */
export interface LoadedService {
  readonly namespace: string;
  readonly label: string;
  readonly description: string;
  readonly operations: readonly CompiledTool[];
  /** What every operation needs of the user's account. */
  readonly needs?: Claim | undefined;
  /** It is elsewhere and may have others tomorrow: an operation that it does not have is no mistake. */
  readonly isRemote: boolean;
  /** Why it cannot be used for now. */
  readonly down?: string | undefined;
  /** Another number: it has other operations. */
  readonly version: number;
}

/** What a service elsewhere is known to have been, in place of asking it. Names of operations have `_` for dots. */
export type RecordedOperations = (namespace: string) => Pick<LoadedService, 'operations'> & {
  /** Its label and description, as the model was told. */ readonly said: string;
};

export interface ServiceMembersOptions {
  readonly entry: ServiceTools;
  readonly path: Path;
  readonly declared: Declared;
  readonly serviceOf: (namespace: string) => LoadedService | undefined;
  /** What other entries have granted. */
  readonly known: ReadonlyMap<string, GrantedService>;
  readonly problems: Problems;
}

export interface ServiceMembers {
  readonly members: readonly Member[];
  readonly services: readonly GrantedService[];
  readonly open: readonly OpenGroup[];
}

/** The operations of services that an entry allows, a tool each. Each namespace is a group of its own. */
export function serviceMembers(options: ServiceMembersOptions): ServiceMembers {
  const { entry, path, declared, serviceOf, known, problems } = options;
  const members: Member[] = [];
  const services: GrantedService[] = [];
  const open: OpenGroup[] = [];
  for (const [namespace, granted] of Object.entries(entry.namespaces)) {
    const at: Path = [...path, 'namespaces', namespace];
    if (known.has(namespace)) {
      const found = `the namespace ${namespace} again`;
      problems.add('bundle_conflict', { place: declared.place(at), found, wanted: 'each namespace in one entry' });
      continue;
    }
    const service = serviceOf(namespace);
    if (service === undefined) continue; // which has been told
    const { label, description } = service;
    services.push({ namespace, label, description });
    if (service.down !== undefined && granted.allowed === undefined) {
      open.push({ kind: 'named_services', group: namespace });
    }
    members.push(...membersOf(service, granted, at, declared, problems));
  }
  return { members, services, open };
}

function membersOf(
  service: LoadedService,
  granted: NamespaceGrant,
  at: Path,
  { place, quoted }: Declared,
  problems: Problems,
): readonly Member[] {
  const { namespace, operations, isRemote, down } = service;
  const names = operations.map(({ own }) => own);
  const { allowed = names, excluded = {}, tool_traits: traits = {}, tool_claims: claims = {} } = granted;
  const member = (own: string, tool: CompiledTool | undefined, why = ''): Member => ({
    kind: 'named_services',
    alias: namespace,
    own,
    locked: false,
    traits: { ...traits['*'], ...traits[own] },
    defer: granted.defer,
    needs: claims[own] ?? claims['*'] ?? service.needs,
    tool,
    why,
  });
  if (!isRemote) {
    const named: (readonly [Path, string])[] = [
      ...(granted.allowed ?? []).map((name, index): [Path, string] => [[...at, 'allowed', index], name]),
      ...(['excluded', 'tool_traits', 'tool_claims'] as const).flatMap((key) =>
        Object.keys(granted[key] ?? {})
          .filter((name) => key === 'excluded' || name !== '*')
          .map((name): [Path, string] => [[...at, key, name], name]),
      ),
    ];
    for (const [path, name] of named) {
      if (names.includes(name)) continue;
      const hint = didYouMean(name, names);
      problems.add('bundle_unknown_name', {
        place: place(path),
        found: `no operation ${quoted(path, name)} in the service ${namespace}`,
        wanted: hint === undefined ? oneOf(names) : undefined,
        hint,
      });
    }
  }
  const isOut = (own: string): boolean => Object.hasOwn(excluded, own);
  const has = operations
    .filter(({ own }) => allowed.includes(own) && !isOut(own))
    .map((tool) => member(tool.own, tool));
  const left = Object.entries(excluded).map(([own, { reason, agent_hint: hint }]) =>
    member(own, undefined, hint === undefined ? reason : `${reason}; ${hint}`),
  );
  const why = down === undefined ? `the service ${namespace} does not offer it` : `the service ${namespace} ${down}`;
  const wanted = down !== undefined && granted.allowed === undefined ? [EVERY_OPERATION] : allowed;
  const missing = isRemote ? wanted.filter((own) => !names.includes(own) && !isOut(own)) : [];
  return [...has, ...left, ...missing.map((own) => member(own, undefined, why))];
}

/** Stands for all that a service would have, where nobody knows what that is. */
const EVERY_OPERATION = '*';
