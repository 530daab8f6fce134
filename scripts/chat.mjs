// `npm run chat` on a bare clone: install what is missing, then talk in the terminal. A bundle may be named.
import { runNode } from './run-node.mjs';

const given = process.argv.slice(2);
const namesBundle = given.length > 0 && !given[0].startsWith('-');
runNode(['src/cli/main.ts', 'chat', ...(namesBundle ? [] : ['agents/exposure.yaml']), ...given]);
