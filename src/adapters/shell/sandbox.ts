import { execFile } from 'node:child_process';
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import type { SandboxState, ShellRequest } from '../../kernel/shell.ts';
import { hiddenPaths } from './hidden-paths.ts';

/** What a program needs of the system to run at all, where it is there. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const SETTINGS = [
  ...[
    'alternatives',
    'ca-certificates',
    'ssl',
    'pki',
    'ld.so.cache',
    'ld.so.conf',
    'ld.so.conf.d',
    'localtime',
    'timezone',
  ],
  ...['passwd', 'group', 'nsswitch.conf', 'hosts', 'resolv.conf', 'protocols', 'services', 'mime.types', 'bash.bashrc'],
].map((name) => `/etc/${name}`);

const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

let known: Promise<SandboxState> | undefined;

/** Whether commands can be kept to themselves here. Tried once, with a command that does nothing. */
export function sandboxState(): Promise<SandboxState> {
  return (known ??= new Promise((resolve) => {
    if (process.platform !== 'linux') {
      resolve({ on: false, why: 'only Linux has bubblewrap' });
      return;
    }
    const args = [...isolation(false), ...systemBinds(), '--tmpfs', '/tmp', 'true'];
    execFile('bwrap', args, { timeout: 5_000, env: { PATH: SEARCH_PATH } }, (error) => {
      if (error === null) resolve({ on: true });
      else if (error.code === 'ENOENT') resolve({ on: false, why: 'bubblewrap (bwrap) is not installed' });
      else resolve({ on: false, why: 'bubblewrap does not work here' });
    });
  }));
}

/** The command line of bubblewrap that keeps a command in its root. */
export function sandboxed(request: ShellRequest, program: readonly string[]): readonly string[] {
  const { root, folder, isHidden, readable, environment, network, readOnly } = request;
  return [
    ...isolation(network),
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...systemBinds(),
    '--tmpfs',
    '/tmp',
    ...ownProgram(root),
    ...readable.flatMap((one) => ['--ro-bind-try', one, one]),
    readOnly ? '--ro-bind' : '--bind',
    root,
    root,
    ...hiddenPaths(root, isHidden).flatMap((one) => masked(path.join(root, one))),
    '--chdir',
    path.join(root, folder),
    ...program,
  ];
}

function isolation(network: boolean): readonly string[] {
  return [
    ...['--unshare-all', ...(network ? ['--share-net'] : []), '--die-with-parent', '--new-session', '--clearenv'],
    ...['--cap-drop', 'ALL', '--proc', '/proc', '--dev', '/dev'],
  ];
}

function systemBinds(): readonly string[] {
  const system = SYSTEM.flatMap((folder) => {
    if (!existsSync(folder)) return [];
    // Most of these are links into /usr, which has to be the one in the sandbox.
    if (lstatSync(folder).isSymbolicLink()) return ['--symlink', readlinkSync(folder), folder];
    return ['--ro-bind', folder, folder];
  });
  return [...system, ...SETTINGS.flatMap((file) => ['--ro-bind-try', file, file])];
}

/** The Node that runs this, so that programs for Node run on it, where it lies outside of the system. */
function ownProgram(root: string): readonly string[] {
  const prefix = nodePrefix();
  if (prefix === undefined || isIn(root, prefix)) return [];
  return ['--ro-bind-try', prefix, prefix];
}

/** Where programs are looked for: beside this Node, so that its npm is found, and where systems keep them. */
export function searchPath(): string {
  const prefix = nodePrefix();
  return prefix === undefined ? SEARCH_PATH : `${prefix}/bin:${SEARCH_PATH}`;
}

/** The folder that a Node was installed in, where that is one for Node alone. */
function nodePrefix(): string | undefined {
  const prefix = path.dirname(path.dirname(realpathSync(process.execPath)));
  const isWide = ['/', '/usr', '/usr/local', homedir()].some((one) => isIn(prefix, one));
  return isWide ? undefined : prefix;
}

function isIn(folder: string, target: string): boolean {
  return target === folder || target.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function masked(target: string): readonly string[] {
  try {
    return lstatSync(target).isDirectory() ? ['--tmpfs', target] : ['--ro-bind', '/dev/null', target];
  } catch {
    return [];
  }
}
