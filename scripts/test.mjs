// `npm test` on a bare clone: install what is missing, then run the tests. `npm test -- test/laws.test.ts` runs one
// file, and any option of `node --test` may be given, such as `--test-name-pattern=approval`.
import { runNode } from './run-node.mjs';

const given = process.argv.slice(2);
const namesFiles = given.some((argument) => !argument.startsWith('-'));
const files = namesFiles ? [] : ['test/**/*.test.ts', 'src/**/*.test.ts'];
runNode(['--test', '--test-reporter=spec', ...given, ...files]);
