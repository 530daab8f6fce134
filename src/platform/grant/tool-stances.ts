import { inventoryLevels, resolve, type Path } from '../../assembly/resolve.ts';
import type { GrantedTool } from '../../domain/grant.ts';
import type { Plugin, Stance, Written } from '../../kernel/plugin.ts';
import type { LoadedAgent } from './agent-source.ts';
import type { LoadedBundle } from '../bundle/load.ts';

/** What is known beforehand of the runs of a tool: who asks about them or refuses them, which, and where that is written. */
export interface ToolStance extends Omit<Stance, 'at'> {
  /** The gate; `tool` where it is the tool that looks at its own arguments. */
  readonly by: string;
  /** `file:line:column  path`; what comes with a tool itself stands in no bundle. */
  readonly from: string | undefined;
}

export interface ToolStancesOptions {
  readonly loaded: Pick<LoadedBundle, 'bundle' | 'plugins' | 'place' | 'written'>;
  readonly known: readonly Plugin[];
}

/** Gates may say more, by what happens in a run: this is what the bundle alone tells. */
export function toolStances(
  { loaded, known }: ToolStancesOptions,
  { frame, tools }: Pick<LoadedAgent, 'frame' | 'tools'>,
  { definition, own }: GrantedTool,
): readonly ToolStance[] {
  const said = loaded.plugins.flatMap(({ id, config, at }) => {
    const plugin = known.find((one) => one.id === id);
    const written: Written = (within, text) => (at === undefined ? text : (loaded.written([...at, ...within]) ?? text));
    const stances = plugin?.stances?.(plugin.config.parse(config ?? {}), definition, written) ?? [];
    return stances.map(({ at: within, ...stance }): ToolStance => {
      const path =
        within.length === 0 || at === undefined ? traitOf(loaded, frame.id, definition.group, own) : [...at, ...within];
      return { by: id, ...stance, from: path === undefined ? undefined : loaded.place(path) };
    });
  });
  if (tools.get(definition.name)?.judge === undefined) return said;
  return [...said, { by: 'tool', then: 'ask', when: 'its own rules on the arguments say so', from: undefined }];
}

/** Whether one of the gates asks about every run, whatever the others say. */
export function alwaysAsks(stances: readonly ToolStance[]): boolean {
  const firsts = [...Map.groupBy(stances, ({ by }) => by).values()].flatMap(([first]) => first ?? []);
  return firsts.some(({ then, when }) => then === 'ask' && when === undefined);
}

const SAID = { allow: 'runs', ask: 'asks a person', deny: 'is refused' } as const;

/** `asks a person when amount is over 50`. */
export function stanceInWords({ by, then, when }: ToolStance): string {
  if (by === 'tool') return 'asks or refuses by its arguments';
  return when === undefined ? SAID[then] : `${SAID[then]} when ${when}`;
}

/** Where a bundle says of a tool that a person is asked, over what the tool says itself. */
function traitOf(
  { bundle }: Pick<LoadedBundle, 'bundle'>,
  agent: string,
  group: string,
  own: string,
): Path | undefined {
  const entries = resolve(inventoryLevels(bundle, agent), 'tools');
  const index = entries?.value.findIndex(({ name, alias = name }) => alias === group) ?? -1;
  const entry = entries?.value[index];
  const traits = entry !== undefined && 'tool_traits' in entry ? entry.tool_traits : undefined;
  const name = [own, '*'].find((one) => traits?.[one]?.approval !== undefined);
  return entries === undefined || name === undefined
    ? undefined
    : [...entries.from, index, 'tool_traits', name, 'approval'];
}
