import type { Part } from '../../../domain/content.ts';
import type { RootedFiles } from '../../../kernel/files.ts';
import type { ToolContext, ToolReturn } from '../../../kernel/running-tool.ts';
import type { RunningCommand, SandboxState, Shell } from '../../../kernel/shell.ts';
import { toolFailure } from '../../../kernel/tool.ts';
import { deny, hold, type Deny, type Hold } from '../../../kernel/verdict.ts';
import type { ShellConfig } from './config.ts';
import { ruling } from './rules.ts';

export interface CommandArgs {
  readonly command: string;
  readonly folder: string;
}

const NAMED_REASONS = 6;

/** What the rules say of a command, and whether it can be kept to itself: asked before every run, for every tool that runs one. */
export async function judgeCommand(
  shell: Shell,
  config: ShellConfig,
  { command, folder }: CommandArgs,
  { files }: ToolContext,
): Promise<Deny | Hold | undefined> {
  const { allow = [], ask = [], deny: denied = [], otherwise = 'ask', sandbox: wanted = 'preferred' } = config;
  const said = ruling(await shell.parse(command, config.environment?.['PATH']), {
    allow,
    ask,
    deny: denied,
    otherwise,
  });
  if (said.verdict === 'deny') return deny(`This command does not run here: ${listed(said.why)}.`, 'shell_rule');
  const why: string[] = said.verdict === 'ask' ? [...said.why] : [];
  if (wanted !== 'off') {
    const state = await shell.sandbox();
    if (!state.on && wanted === 'required') {
      return deny(`Commands run in a sandbox only, and there is none: ${state.why}.`, 'no_sandbox');
    }
    if (!state.on) why.push(`it would not run in a sandbox: ${state.why}`);
  } else if (files?.isReadOnly === true) why.push('it could write to a folder that is read only');
  if (why.length === 0) return undefined;
  return hold(`Run this command? ${listed(why)}.`, {
    remember: { scopes: ['conversation', 'always'], subject: { command, folder }, about: `the command ${command}` },
  });
}

function listed(why: readonly string[]): string {
  const more = why.length - NAMED_REASONS;
  return why.slice(0, NAMED_REASONS).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

/** The command as it would run, for whoever decides. */
export async function previewCommand(
  shell: Shell,
  config: ShellConfig,
  { command, folder }: CommandArgs,
  { files }: ToolContext,
): Promise<readonly Part[]> {
  const state: SandboxState = config.sandbox === 'off' ? { on: false, why: 'switched off' } : await shell.sandbox();
  const where = `in ${files?.root ?? '?'}${folder === '' ? '' : `/${folder}`}`;
  const how = state.on
    ? `in a sandbox, ${config.network === true ? 'with the network' : 'without the network'}`
    : `NOT in a sandbox: ${state.why}`;
  return [{ type: 'text', format: 'terminal', text: `$ ${command}\n# ${where}\n# ${how}\n` }];
}

/** Starts what was judged. A failure where it cannot be started. */
export async function startCommand(
  shell: Shell,
  config: ShellConfig,
  { command, folder }: CommandArgs,
  context: ToolContext,
): Promise<RunningCommand | ToolReturn> {
  const { files } = context;
  if (files === undefined) return toolFailure('no_files', 'This tool was given no folder to work in.');
  const found = await files.stat(folder);
  if (found?.kind !== 'folder') return toolFailure('not_a_folder', `There is no folder ${JSON.stringify(folder)}.`);
  const bare = config.sandbox === 'off' || !(await shell.sandbox()).on;
  return shell.start({
    command,
    root: files.root,
    folder: found.path,
    isHidden: (path) => files.isHidden(path),
    readable: config.readable ?? [],
    environment: { ...plain(files, bare), ...config.environment },
    network: config.network === true,
    readOnly: files.isReadOnly,
    bare,
    mostBytes: config.max_output_bytes ?? 1_000_000,
  });
}

function plain({ root }: RootedFiles, bare: boolean): Readonly<Record<string, string>> {
  return { HOME: bare ? root : '/tmp', TMPDIR: '/tmp', LANG: 'C.UTF-8', TERM: 'dumb', NO_COLOR: '1' };
}
