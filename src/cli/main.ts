#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import process from 'node:process';

// Nothing else is imported before it is known what is wanted: a version takes no longer than Node itself.
const given = process.argv.slice(2);
if (given.length === 1 && (given[0] === '--version' || given[0] === '-V')) process.stdout.write(`${readVersion()}\n`);
else {
  // Kept in the system's folder for temporary files: a quarter of the start-up is saved from the second time on.
  enableCompileCache();
  const { main } = await import('./run-program.ts');
  await main(given, readVersion());
}

function readVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return /"version":\s*"([^"]+)"/.exec(manifest)?.[1] ?? 'unknown';
}
