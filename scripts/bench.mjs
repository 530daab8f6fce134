// `npm run bench` on a bare clone: install what is missing, then measure. What follows `--` goes to bench/run.ts.
import { runNode } from './run-node.mjs';

runNode(['bench/run.ts', ...process.argv.slice(2)]);
