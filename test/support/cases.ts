import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The folder of shared cases: third-party data that lives beside the repository, not in it. */
export const CASES: string = process.env['TREADLE_CASES'] ?? path.join(import.meta.dirname, '../../../shared/cases');

/**
 * Why a test of shared cases is skipped, or false. Where everything must run, absence is a failure.
 */
export function casesAbsent(): string | false {
  if (existsSync(CASES)) return false;
  if (process.env['CI'] === 'true') throw new Error(`the shared cases are not at ${CASES}`);
  return `the shared cases are not here (set TREADLE_CASES)`;
}

export function readCases(file: string): unknown {
  return JSON.parse(readFileSync(path.join(CASES, file), 'utf8'));
}
