// `npm test` on a bare clone: install what is missing, then run the tests. `npm test -- test/laws.test.ts` runs one
// file, and any option of `node --test` may be given, such as `--test-name-pattern=approval`.
import { cpus } from 'node:os';
import { runNode } from './run-node.mjs';

const given = process.argv.slice(2);
const options = given.filter((argument) => argument.startsWith('-'));
const files = given.filter((argument) => !argument.startsWith('-'));
const all = ['test/**/*.test.ts', 'src/**/*.test.ts'];
// By itself Node leaves one processor idle, which is half of them on a small machine.
const width = `--test-concurrency=${cpus().length}`;
// A test that hangs is ended. `--test-force-exit` is not for here: it ends a file before tests that are registered late.
const patience = '--test-timeout=300000';
// Node takes what follows the first file for another file, so options go first.
runNode(['--test', '--test-reporter=spec', width, patience, ...options, ...(files.length > 0 ? files : all)]);
