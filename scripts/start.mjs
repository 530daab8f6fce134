// `npm start` on a bare clone: install what is missing, build the page, serve the agents, open the page.
// `npm start -- agents/other.yaml --port 8080` serves others, elsewhere. `npm run chat` talks in the terminal instead.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { ensureInstalled, root } from './ensure-installed.mjs';
import { ensurePage } from './ensure-page.mjs';
import { runNode } from './run-node.mjs';

const given = process.argv.slice(2);
const namesBundle = given.some((argument) => /\.ya?ml$/.test(argument));
const shipped = readdirSync(path.join(root, 'agents')).filter((file) => file.endsWith('.yaml'));
// The first one answers when nobody is named.
const bundles = ['exposure.yaml', ...shipped.filter((file) => file !== 'exposure.yaml').sort()];

ensurePage(ensureInstalled());
runNode([
  'src/cli/main.ts',
  'serve',
  ...(namesBundle ? [] : bundles.map((file) => path.join('agents', file))),
  '--open',
  ...given,
]);
