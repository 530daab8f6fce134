import { TreadleError, type ErrorCode } from '../../../base/errors.ts';

/** SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html. A class is its first two letters. */
const TOLD: Readonly<Record<string, { readonly code: ErrorCode; readonly wanted: string; readonly hint: string }>> = {
  '08': unreachable('see whether it is up, and what is between'),
  '28': {
    code: 'log_unavailable',
    wanted: 'a user and a password that the server lets in',
    hint: 'check them in DATABASE_URL; what is not a letter or a digit is written as %40 and the like',
  },
  '3D000': {
    code: 'log_unavailable',
    wanted: 'a database that exists',
    hint: 'check its name in DATABASE_URL, or make it with createdb',
  },
  '3F000': missingTables('make the tables with `treadle migrate`'),
  '42P01': missingTables(
    'make the tables with `treadle migrate`; if they were there, restore the database from a backup',
  ),
  '42': altered(),
  '22': altered(),
  '23': altered(),
  '42501': {
    code: 'log_unavailable',
    wanted: 'a role that may do this',
    hint: 'see “A role without DDL” in docs/operations.md for what it has to be granted',
  },
  '25006': {
    code: 'log_full',
    wanted: 'a server that takes writes',
    hint: 'name the primary in DATABASE_URL: this one is a standby or was made read-only',
  },
  '53100': {
    code: 'log_full',
    wanted: 'room to write',
    hint: 'free some space on the disk of the server; what was stated before is safe',
  },
  '53300': {
    code: 'log_unavailable',
    wanted: 'a free connection',
    hint: 'raise max_connections of the server, or give each process fewer with ?pool= in DATABASE_URL',
  },
  '53': { code: 'log_unavailable', wanted: 'a server with what it needs', hint: 'see the log of the server' },
  '55': { code: 'log_locked', wanted: 'a free row', hint: 'see pg_stat_activity for what holds it, or try again' },
  '57014': { code: 'log_locked', wanted: 'an answer in time', hint: 'see pg_stat_activity for what it waits for' },
  '57': unreachable('it is starting, stopping or was told to let go; try again'),
  '58': { code: 'log_unavailable', wanted: 'a server whose disk works', hint: 'see the log of the server' },
  XX: {
    code: 'log_corrupt',
    wanted: 'a database that can be read',
    hint: 'see the log of the server; restore it from a backup',
  },
};

/** What drivers and the system say when nothing came back from a server. */
const LOST = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
]);
const LOST_WORDS = /Connection terminated|not queryable|Query read timeout|timeout expired|Client was closed/i;

/** What the driver finds out by itself before it is let in, and says in words alone. */
const DRIVER_WORDS = [
  {
    says: /\bSASL\b|password must be/,
    wanted: 'a user and a password that the server lets in',
    hint: 'the server asks for a password: put it into DATABASE_URL, or into PGPASSWORD',
  },
  {
    says: /does not support SSL|CERT|certificate|\bTLS\b|\bSSL\b/,
    wanted: 'a line that is secured as both sides want it',
    hint: 'see sslmode and sslrootcert in DATABASE_URL, and the certificate of the server',
  },
  {
    says: /invalid response|parse.* message/i,
    wanted: 'a PostgreSQL server that answers',
    hint: 'something else answers there: check host and port in DATABASE_URL',
  },
];

/** Any problem of the server as a `TreadleError`. What is not about it, such as a bug of ours, comes back as it is. */
export function postgresError(problem: unknown, place: string): unknown {
  if (TreadleError.is(problem)) return problem;
  const found = problem instanceof Error && problem.message !== '' ? problem.message : String(field(problem, 'code'));
  const detail = { place, found, cause: problem };
  if (isPoolBusy(problem))
    return new TreadleError('log_locked', {
      ...detail,
      wanted: 'a free connection of this process',
      hint: 'try again; where it lasts, give it more with ?pool= in DATABASE_URL',
    });
  const state = stateOf(problem);
  const told = state === undefined ? undefined : (TOLD[state] ?? TOLD[state.slice(0, 2)]);
  if (told !== undefined) {
    const { code, wanted, hint } = told;
    return new TreadleError(code, { ...detail, wanted, hint });
  }
  const system = field(problem, 'code');
  if (system === 'ENOTFOUND')
    return new TreadleError('log_unavailable', { ...detail, wanted: 'a host that exists', hint: 'check DATABASE_URL' });
  const words = DRIVER_WORDS.find(({ says }) => says.test(`${String(system)} ${found}`));
  if (words !== undefined)
    return new TreadleError('log_unavailable', { ...detail, wanted: words.wanted, hint: words.hint });
  if (isLost(problem)) return new TreadleError('log_unavailable', { ...detail, ...reachable });
  return state === undefined
    ? problem
    : new TreadleError('log_unavailable', { ...detail, hint: 'see the log of the server' });
}

/** All connections of this process are in use, and stayed so. */
export function isPoolBusy(problem: unknown): boolean {
  return problem instanceof Error && problem.message === 'timeout exceeded when trying to connect';
}

/** Nobody knows whether the statement was carried out; another connection can say. */
export function isLost(problem: unknown): boolean {
  const state = stateOf(problem);
  if (state !== undefined) return state.startsWith('08') || /^57P0[1-4]$/.test(state);
  const system = field(problem, 'code');
  if (typeof system === 'string' && LOST.has(system)) return true;
  return problem instanceof Error && LOST_WORDS.test(problem.message);
}

/** The statement came to nothing, and the same again may succeed: a key that somebody else has just used, a deadlock. */
export function isRace(problem: unknown): boolean {
  const state = stateOf(problem);
  return state === '23505' || state === '40001' || state === '40P01';
}

function stateOf(problem: unknown): string | undefined {
  const code = field(problem, 'code');
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !LOST.has(code) ? code : undefined;
}

const reachable = {
  wanted: 'a PostgreSQL server that answers',
  hint: 'check host and port in DATABASE_URL, and whether it is up',
};

function unreachable(hint: string) {
  return { code: 'log_unavailable', wanted: 'a PostgreSQL server that answers', hint } as const;
}

function missingTables(hint: string) {
  return { code: 'log_unavailable', wanted: 'the tables of Treadle', hint } as const;
}

function altered() {
  return {
    code: 'log_corrupt',
    wanted: 'the tables as Treadle made them',
    hint: 'somebody altered them: take that back, or restore the database from a backup',
  } as const;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (Reflect.get(value, name) as unknown) : undefined;
}
