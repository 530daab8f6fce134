#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import module from 'node:module';
import process from 'node:process';

// Nothing else is imported before it is known what is wanted: a version takes no longer than Node itself.
const given = process.argv.slice(2);
if (given.length === 1 && (given[0] === '--version' || given[0] === '-V')) process.stdout.write(`${readVersion()}\n`);
else if (isTooOld(process.versions.node)) {
  process.stderr.write(`treadle needs Node 22.18 or newer; this is ${process.versions.node}\n`);
  process.exitCode = 2;
} else {
  // Kept in the system's folder for temporary files: a quarter of the start-up is saved from the second time on.
  module.enableCompileCache();
  const { main } = await import('./run-program.ts');
  await main(given, readVersion());
}

function readVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return /"version":\s*"([^"]+)"/.exec(manifest)?.[1] ?? 'unknown';
}

/** Said before anything is loaded that an older Node could not read. */
function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < 22 || (major === 22 && minor < 18);
}
