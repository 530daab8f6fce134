import path from 'node:path';
import process from 'node:process';
import { narrow } from '../../assembly/narrow.ts';
import type { Grant, GrantedTool } from '../../domain/grant.ts';
import { emptySelection } from '../../domain/selection.ts';
import type { Plugin } from '../../kernel/plugin.ts';
import type { LoadedAgent, LoadedBundle } from '../../platform/bundle/load.ts';
import {
  stanceInWords,
  toolStances,
  type ToolStance,
  type ToolStancesOptions,
} from '../../platform/grant/tool-stances.ts';
import type { Context } from '../context.ts';
import type { Outcome } from '../exit-codes.ts';
import { reportError } from '../report-error.ts';
import type { Colors } from '../terminal.ts';
import { counted, harmless, oneLine, wrap } from '../text.ts';

export interface CheckOptions {
  readonly explain?: boolean;
  readonly debug?: boolean;
}

/**
 * Loads each bundle and says all that is wrong with it, or what its agents have. Plugins are set up for trial and tool
 * servers are asked; no tool is run.
 */
export async function check(
  { terminal, environment }: Context,
  files: readonly string[],
  options: CheckOptions,
): Promise<Outcome> {
  const [{ loadBundle }, { builtinGroups }, { allPlugins }] = await Promise.all([
    import('../../platform/bundle/load.ts'),
    import('../../platform/bundle/builtins.ts'),
    import('../../platform/bundle/all-plugins.ts'),
  ]);
  const plugins = new Map(allPlugins.map((one) => [one.id, one.config]));
  let outcome: Outcome = 'completed';
  for (const [index, file] of files.entries()) {
    if (index > 0) terminal.out.write('\n');
    try {
      const bundle = await loadBundle(file, { environment, builtins: builtinGroups, plugins });
      const look = { colors: terminal.colors, columns: terminal.columns(), explain: options.explain === true };
      const lines = await askedLines(bundle, look, allPlugins);
      terminal.out.write(lines.map((line) => `${line}\n`).join(''));
    } catch (error) {
      const found = reportError(error, terminal, options.debug === true);
      if (found !== 'usage') return found;
      outcome = 'usage';
    }
  }
  return outcome;
}

interface Look {
  readonly colors: Colors;
  readonly columns: number;
  readonly explain: boolean;
}

/** The lines of a bundle after its plugins were tried and its tool servers asked what they have. One that is down is no mistake of the bundle. */
async function askedLines(bundle: LoadedBundle, look: Look, known: readonly Plugin[]): Promise<readonly string[]> {
  const { tryPlugins } = await import('../../platform/bundle/install-plugins.ts');
  try {
    await tryPlugins(bundle.plugins, known);
    await Promise.all(bundle.agents.map(async (id) => bundle.agentNow(id)));
    return bundleLines(bundle, look, known);
  } finally {
    await bundle.close();
  }
}

function bundleLines(bundle: LoadedBundle, look: Look, known: readonly Plugin[]): string[] {
  const { colors, columns } = look;
  const file = path.relative(process.cwd(), bundle.file) || bundle.file;
  const lines = [
    `${colors.green('✓')} ${colors.bold(bundle.id)}  ${colors.dim(oneLine(file, columns - bundle.id.length - 4))}`,
  ];
  for (const id of bundle.agents) {
    const isDefault = id === bundle.defaultAgent && bundle.agents.length > 1;
    lines.push('', ...agentLines(bundle.agent(id), isDefault, look, { loaded: bundle, known }));
    if (look.explain) {
      for (const { key, value, from } of bundle.explain(id)) {
        lines.push(
          ...row(key, JSON.stringify(value), look),
          ...wrap(harmless(from), { columns, first: ' '.repeat(INDENT) }).map(colors.dim),
        );
      }
    }
  }
  lines.push('', ...row('plugins', bundle.plugins.map((one) => one.id).join(', ') || 'none', look, 2));
  for (const { place, text } of [...bundle.notices, ...bundle.serverNotices()]) {
    lines.push(...wrap(harmless(`${place}: ${text}`), { columns, first: '  ! ', rest: '    ' }).map(colors.yellow));
  }
  return lines;
}

function agentLines(agent: LoadedAgent, isDefault: boolean, look: Look, options: ToolStancesOptions): string[] {
  const { frame, grant, role } = agent;
  const tools = grant.tools.map((tool) => toolInWords(tool, toolStances(options, agent, tool)));
  const models = grant.models.map(({ provider, model }) => (provider === 'auto' ? 'auto' : `${provider} ${model}`));
  const missing = grant.unavailable.map(({ name, why }) => `${name} (${why})`);
  return [
    `  ${look.colors.bold(frame.id)}${isDefault ? look.colors.dim('  default') : ''}`,
    ...row('model', `${models.join(', then ')}  (${role})`, look),
    ...row('tools', tools.join(', ') || 'none', look),
    ...(missing.length === 0 ? [] : row('missing', missing.join('; '), look)),
    ...(grant.skills === undefined ? [] : row('skills', skillsInWords(grant), look)),
    ...row(
      'limits',
      `${counted(frame.limits.maxIterations, 'model call')} a turn, ${counted(frame.limits.maxActions, 'action')} a decision`,
      look,
    ),
  ];
}

/** The skills, and why some are hidden from everybody. */
function skillsInWords(grant: Grant): string {
  const { skills, hidden } = narrow(grant, emptySelection);
  return [...skills.map(({ id }) => id), ...hidden.map(({ name, why }) => `${name} (hidden: ${why})`)].join(', ');
}

/** What is not plain reading is said: whether a person is asked, and whether a repetition would matter. */
function toolInWords({ definition: { name, effect, deferred } }: GrantedTool, stances: readonly ToolStance[]): string {
  const traits = [
    ...new Set(stances.map(stanceInWords)),
    ...(effect === 'once' ? ['acts once'] : effect === 'idempotent' ? ['acts'] : []),
    ...(deferred === true ? ['found by a search'] : []),
  ];
  return traits.length === 0 ? name : `${name} (${traits.join(', ')})`;
}

const INDENT = 14;

function row(label: string, text: string, { colors, columns }: Look, indent = 4): string[] {
  const first = `${' '.repeat(indent)}${label}`.padEnd(INDENT - 1) + ' ';
  const [head = '', ...rest] = wrap(harmless(text), { columns, first, rest: ' '.repeat(INDENT) });
  return [colors.dim(head.slice(0, first.length)) + head.slice(first.length), ...rest];
}
