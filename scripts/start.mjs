// `npm start` on a bare clone: install what is missing, then chat. `npm start -- agents/other.yaml` picks an agent.
import { runNode } from './run-node.mjs';

const given = process.argv.slice(2);
const namesBundle = given.length > 0 && !given[0].startsWith('-');
runNode(['src/cli/main.ts', 'chat', ...(namesBundle ? [] : ['agents/exposure.yaml']), ...given]);
