// `npm run docs` writes the generated pages of docs/. `npm run docs -- --check` writes nothing and says which are stale.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pages } from './docs/pages.ts';

const folder = path.join(import.meta.dirname, '../docs');
const isCheck = process.argv.slice(2).includes('--check');

let stale = 0;
for (const [name, render] of Object.entries(pages)) {
  const file = path.join(folder, name);
  const text = render();
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  stale++;
  if (!isCheck) writeFileSync(file, text);
  console.log(`${isCheck ? 'stale' : 'wrote'}  docs/${name}`);
}
if (stale === 0) console.log('The pages of docs/ are current.');
else if (isCheck) {
  console.log('Run `npm run docs` and commit what it writes.');
  process.exitCode = 1;
}
