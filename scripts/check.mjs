// Everything a change must pass, all of it at once. What the quick checks say is printed first, what they found only if
// they fail; then the tests' own output, so that the last lines are the test runner's summary.
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { ensureInstalled, root } from './ensure-installed.mjs';

ensureInstalled(); // once, before everything that needs it begins

/** Runs a script of the package; `hear` gets what it prints as it comes. Resolves with whether it passed. */
function npmRun(script, hear) {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', script], {
      cwd: root,
      shell: process.platform === 'win32',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...(process.stdout.isTTY && { FORCE_COLOR: '1' }) },
    });
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', hear);
    child.on('error', reject);
    child.on('close', (code) => resolve(code === 0));
  });
}

async function quick(script) {
  const started = performance.now();
  let output = '';
  const passed = await npmRun(script, (text) => (output += text));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${passed ? 'passed' : 'FAILED'}  ${script} (${seconds} s)`);
  if (!passed) console.log(output);
  return passed;
}

let held = '';
let print = (text) => (held += text);
const tests = npmRun('test', (text) => print(text));
const quickOnes = await Promise.all(['format:check', 'lint', 'typecheck'].map(quick));
print = (text) => process.stdout.write(text);
print(held);
const passed = await tests;
process.exitCode = passed && quickOnes.every(Boolean) ? 0 : 1;
if (!quickOnes.every(Boolean)) console.log('A check above the tests FAILED.');
