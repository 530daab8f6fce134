// Makes `dist`, which is what the package ships: JavaScript and declarations, a command that can be executed, and the page.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ensurePage } from './ensure-page.mjs';

const root = path.join(import.meta.dirname, '..');
const dist = path.join(root, 'dist');
const typescript = path.dirname(createRequire(import.meta.url).resolve('typescript/package.json'));

// A file whose source was deleted must not survive in the package.
rmSync(dist, { recursive: true, force: true });
function compile(project: string): void {
  const compiler = path.join(typescript, 'bin/tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', project], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

compile('tsconfig.build.json');
// Node does not run TypeScript inside node_modules: the shipped agents carry their tools as JavaScript too.
compile('tsconfig.agents.json');

const command = path.join(dist, 'cli/main.js');
if (existsSync(command)) chmodSync(command, 0o755);

if (!ensurePage(process.execPath)) process.exit(1);
