import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { payloadOf } from '../../src/adapters/stores/stored.ts';
import type { Fact } from '../../src/domain/event.ts';

export const HISTORIES = path.join(import.meta.dirname, '..', 'histories');

/** Names of the logs of past versions. */
export const histories = globSync('v*.jsonl', { cwd: HISTORIES }).sort();

/** A log of a past version as a store of today reads it. */
export function readHistory(name: string): Fact[] {
  const lines = readFileSync(path.join(HISTORIES, name), 'utf8').trimEnd().split('\n');
  return lines.map((line, index) => {
    const stored = JSON.parse(line) as Fact; // payloadOf checks what matters of it
    const payload = payloadOf(stored.type, stored.v, JSON.stringify(stored.payload), () => `${name}:${index + 1}`);
    return { ...stored, payload } as Fact;
  });
}
