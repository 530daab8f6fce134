import { TreadleError, type ErrorCode, type ErrorDetail } from '../../../base/errors.ts';

/** Primary result codes of SQLite: https://sqlite.org/rescode.html */
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;
/** Extended: the file was moved or deleted under us. */
const READONLY_DBMOVED = 1032;

/** Any problem of the file as a `TreadleError`. What is not about the file, such as a bug of ours, comes back as it is. */
export function storeError(problem: unknown, file: string): unknown {
  if (TreadleError.is(problem)) return problem;
  const detail = { place: file, found: messageOf(problem), cause: problem };
  const sqlite = field(problem, 'errcode');
  if (typeof sqlite === 'number') return ofSqlite(sqlite, detail);
  const system = field(problem, 'code');
  if (field(problem, 'syscall') !== undefined && typeof system === 'string') return ofSystem(system, detail);
  return problem;
}

export function isBusy(problem: unknown): boolean {
  const code = field(problem, 'errcode');
  return typeof code === 'number' && ((code & 0xff) === BUSY || (code & 0xff) === LOCKED);
}

function ofSqlite(code: number, detail: ErrorDetail): TreadleError {
  if (code === READONLY_DBMOVED) return error('log_unavailable', detail, 'the file the log was opened with');
  switch (code & 0xff) {
    case BUSY:
    case LOCKED:
      return error('log_locked', detail, 'a free log', 'stop the process that holds it, or allow a longer wait');
    case FULL:
      return error('log_full', detail, 'room to write', 'free some space on the disk; what was stated before is safe');
    case READONLY:
      return error('log_full', detail, 'a file that can be written', 'give the file and its folder write permission');
    case CORRUPT:
    case NOTADB:
      return error('log_corrupt', detail, 'a log of Treadle', 'restore it from a backup, or name another file');
    case CANTOPEN:
      return error('log_unavailable', detail, 'a file in a folder that can be written', 'check the path');
    default:
      return error('log_unavailable', detail, 'a log that can be read and written', 'check the disk and the path');
  }
}

function ofSystem(code: string, detail: ErrorDetail): TreadleError {
  if (code === 'ENOSPC' || code === 'EROFS' || code === 'EDQUOT') {
    return error('log_full', detail, 'room to write', 'free some space, or name a file elsewhere');
  }
  return error('log_unavailable', detail, 'a file in a folder that can be written', 'check the path');
}

function error(code: ErrorCode, detail: ErrorDetail, wanted: string, hint?: string): TreadleError {
  return new TreadleError(code, { ...detail, wanted, hint });
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (Reflect.get(value, name) as unknown) : undefined;
}

function messageOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}
