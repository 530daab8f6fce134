import type { Path } from '../../assembly/resolve.ts';
import type { Claim } from '../../domain/grant.ts';
import type { GroupEntry } from '../../domain/inventory.ts';
import type { Declared } from '../bundle/declare.ts';
import { didYouMean, oneOf, type Problems } from '../bundle/problems.ts';
import type { CompiledTool } from './catalog.ts';
import type { Member } from './member.ts';

/** What stands behind one entry of an inventory. */
export interface ToolGroup {
  readonly locked: boolean;
  readonly tools: readonly CompiledTool[];
  /** Its name, where it comes with Treadle. */
  readonly builtin?: string | undefined;
  /** Why tools that the entry names and nobody has are passed over. Absent: such a name is a mistake. */
  readonly unavailable?: string | undefined;
  /** By name: tools that it would have if it were set up otherwise, and why it does not. */
  readonly absent?: Readonly<Record<string, string>> | undefined;
  /** The group of a server, which may have other tools tomorrow, with what it does not have now. */
  readonly remote?: RemoteState | undefined;
  /** What each of its tools needs of the user's account, where its entry says nothing else of the tool. */
  readonly needs?: Claim | undefined;
}

export interface RemoteState {
  readonly missing: readonly {
    readonly own: string;
    readonly why: string;
    /** The account that would bring it. */
    readonly account?: string | undefined;
  }[];
  /** The server could not be asked: it may have more than is known. */
  readonly isOpen: boolean;
}

/** The tools of a group that its entry allows. */
export function membersOf(
  entry: GroupEntry,
  alias: string,
  group: ToolGroup,
  path: Path,
  { place, quoted }: Declared,
  problems: Problems,
): readonly Member[] {
  const names = group.tools.map(({ own }) => own);
  const absent = Object.keys(group.absent ?? {}).filter((name) => !names.includes(name));
  const whyNot = (own: string): string | undefined => (absent.includes(own) ? group.absent?.[own] : group.unavailable);
  const kind = group.remote === undefined ? ('tools' as const) : ('mcp' as const);
  const member = (own: string, tool: CompiledTool | undefined): Member => ({
    kind,
    alias,
    own,
    locked: group.locked,
    defer: entry.defer,
    traits: { ...(kind === 'mcp' ? entry.tool_traits?.['*'] : undefined), ...entry.tool_traits?.[own] },
    needs: entry.tool_claims?.[own] ?? group.needs,
    tool,
    why: whyNot(own) ?? '',
  });
  if (group.remote !== undefined) {
    // What a server has is not known when the bundle is written: no name is a mistake.
    const offered = group.tools.map((tool) => member(tool.own, tool));
    return [
      ...offered,
      ...group.remote.missing.map(({ own, why, account }) => ({ ...member(own, undefined), why, account })),
    ];
  }
  const unknown = (at: Path, name: string): void => {
    const hint = didYouMean(name, names);
    const wanted = hint === undefined ? oneOf(names) : undefined;
    problems.add('bundle_unknown_name', {
      place: place(at),
      found: `no tool ${quoted(at, name)} in ${quoted([...path, 'name'], entry.name)}`,
      wanted,
      hint,
    });
  };
  const allowed = new Set(entry.allowed ?? [...names, ...absent]);
  for (const [index, name] of (entry.allowed ?? []).entries()) {
    if (!names.includes(name) && whyNot(name) === undefined) unknown([...path, 'allowed', index], name);
  }
  for (const key of ['tool_traits', 'tool_claims'] as const) {
    for (const name of Object.keys(entry[key] ?? {})) {
      if (!names.includes(name) && whyNot(name) === undefined) unknown([...path, key, name], name);
    }
  }
  for (const { own, definition } of group.tools) {
    if (definition.native === undefined || entry.tool_traits?.[own]?.approval !== 'ask') continue;
    problems.add('bundle_conflict', {
      place: place([...path, 'tool_traits', own, 'approval']),
      found: `approval of ${own}, which the provider of the model does by itself`,
      wanted: 'a search that is made here, whose runs can be asked about',
      hint: 'name another provider under config.search',
    });
  }
  const has = group.tools.filter(({ own }) => allowed.has(own)).map((tool) => member(tool.own, tool));
  const missing = [...allowed].filter((name) => whyNot(name) !== undefined && !names.includes(name));
  return [...has, ...missing.map((own) => member(own, undefined))];
}
