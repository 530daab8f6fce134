import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import path from 'node:path';
import { ensureInstalled, root } from './ensure-installed.mjs';

/** Stands in for `exec`: the child has this terminal and this process's signals, and its end is this process's end. */
export function runNode(args) {
  const node = ensureInstalled();
  // Whatever the child starts by the name `node` should be the same one.
  const env = {
    NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/node'),
    ...process.env,
    PATH: path.dirname(node) + path.delimiter + (process.env.PATH ?? ''),
  };
  const child = spawn(node, args, { cwd: root, env, stdio: 'inherit' });

  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // A terminal sends Ctrl-C to the child as well; a second one from here would look like impatience.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  // The shell that npm puts in between dies of a signal without passing it on, so under npm a lost parent means stop.
  const parent = process.ppid;
  const look = () => process.ppid !== parent && child.kill('SIGTERM');
  if (process.env.npm_lifecycle_event) setInterval(look, 250);

  child.on('error', (error) => {
    console.error(`${node} could not be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
