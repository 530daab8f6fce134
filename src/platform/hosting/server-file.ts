import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { isObject, tryParseJson } from '../../base/json.ts';

/** A small file in the data folder, by which commands on this machine find the server that serves it. */
const SERVER_FILE = 'server.json';

/** A server that is up. */
export interface ServerNote {
  readonly url: string;
  readonly pid: number;
}

export function writeServerFile(folder: string, note: ServerNote): void {
  writeFileSync(path.join(folder, SERVER_FILE), `${JSON.stringify(note)}\n`, { mode: 0o600 });
}

/** The server of a data folder; undefined where none is up. One that was killed leaves its file behind. */
export function readServerFile(folder: string): ServerNote | undefined {
  let text: string;
  try {
    text = readFileSync(path.join(folder, SERVER_FILE), 'utf8');
  } catch {
    return undefined;
  }
  const parsed = tryParseJson(text);
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const { url, pid } = parsed.value;
  return typeof url === 'string' && typeof pid === 'number' && isAlive(pid) ? { url, pid } : undefined;
}

/** Takes the file away, unless another server has taken its place. */
export function removeServerFile(folder: string, pid: number): void {
  if (readServerFile(folder)?.pid === pid) rmSync(path.join(folder, SERVER_FILE), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'; // alive, and somebody else's
  }
}
