// Everything a change must pass. The quick checks run side by side and print only if they fail; the tests come last,
// with their own output, so that the last lines are the test runner's summary.
import { spawn } from 'node:child_process';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');

interface Outcome {
  readonly passed: boolean;
  readonly output: string;
}

function npmRun(script: string, stdio: 'pipe' | 'inherit'): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', script], {
      cwd: root,
      shell: process.platform === 'win32',
      stdio: ['ignore', stdio, stdio],
    });
    let output = '';
    const collect = (chunk: Buffer) => (output += chunk.toString());
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ passed: code === 0, output });
    });
  });
}

async function quick(script: string): Promise<boolean> {
  const started = performance.now();
  const { passed, output } = await npmRun(script, 'pipe');
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${passed ? 'passed' : 'FAILED'}  ${script} (${seconds} s)`);
  if (!passed) console.log(output);
  return passed;
}

const quickOnes = await Promise.all(['format:check', 'lint', 'typecheck'].map(quick));
const { passed } = await npmRun('test', 'inherit');
process.exitCode = passed && quickOnes.every(Boolean) ? 0 : 1;
if (!quickOnes.every(Boolean)) console.log('A check above the tests FAILED.');
