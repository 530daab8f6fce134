// Every example is run as a reader would run it, and must print what stands in examples/expected.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const folder = path.join(import.meta.dirname, '../examples');
const LINES_MAX = 60;

const examples = readdirSync(folder)
  .filter((name) => name.endsWith('.ts'))
  .sort();

test('every example has its expected output, and every output its example', () => {
  const expected = readdirSync(path.join(folder, 'expected'));
  assert.deepEqual(
    expected.sort(),
    examples.map((name) => name.replace(/\.ts$/, '.txt')),
  );
});

test('the numbers of the examples are without a gap', () => {
  assert.deepEqual(
    examples.map((name) => Number(/^\d\d(?=-)/.exec(name)?.[0])),
    examples.map((_, index) => index + 1),
  );
});

for (const name of examples) {
  test(`${name} prints what it should`, async () => {
    const file = path.join(folder, name);
    const lines = readFileSync(file, 'utf8').split('\n').length - 1;
    assert.ok(lines < LINES_MAX, `an example is read in one go: ${lines} lines`);
    const { stdout, stderr, status } = await run(file);
    assert.equal(status, 0, stderr); // an older Node warns of its own SQLite there
    assert.equal(stdout, readFileSync(path.join(folder, 'expected', name.replace(/\.ts$/, '.txt')), 'utf8'));
  });
}

interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | null;
}

function run(file: string): Promise<Output> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('error', reject);
    child.on('close', (status) => resolve({ stdout, stderr, status }));
  });
}
