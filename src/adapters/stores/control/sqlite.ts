import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Clock } from '../../../base/clock.ts';
import { canonicalJson } from '../../../base/json.ts';
import { SCOPES, type ApiKey, type Scope } from '../../../kernel/stores.ts';
import { allowanceText, storedAllowance } from './allowances.ts';
import { connect } from '../sqlite/connection.ts';
import { guarded } from '../sqlite/guarded.ts';
import type { MemoryControlStore } from './memory.ts';
import { newSecret } from './secret.ts';
import { placeOf, storedSelection } from './selections.ts';
import { CONTROL_FORMAT, CONTROL_SQL } from './sql.ts';

export interface SqliteControlStoreOptions {
  readonly file: string;
  readonly clock: Clock;
  /** How long a write waits for another process. */
  readonly busyTimeoutMs?: number;
}

/** What a server keeps besides the log, in one SQLite file for any number of processes of one machine. */
export async function openSqliteControlStore({
  file,
  clock,
  busyTimeoutMs = 5000,
}: SqliteControlStoreOptions): Promise<MemoryControlStore> {
  // `normal`: a power cut may undo the last replies that were kept, and what they are replies to is safe by itself.
  const connection = await connect(file, 'normal', busyTimeoutMs, CONTROL_FORMAT);
  const { sql, use } = guarded(connection, file, CONTROL_SQL);

  return {
    add(key) {
      use(() => safely(connection, () => sql('addKey').run(...columnsOf(key))));
    },
    find: (id) =>
      use(() => {
        const row = sql('findKey').get(id);
        return row === undefined ? undefined : keyOf(row);
      }),
    list: () => use(() => sql('listKeys').all().map(keyOf)),
    revoke: (id, at) => use(() => safely(connection, () => sql('revokeKey').run(id, at).changes > 0)),
    used(id, at) {
      use(() => sql('usedKey').run(id, at));
    },
    any: () => use(() => sql('anyKey').get()?.['found'] === 1),

    begin: ({ scope, key, fingerprint }, owner, leaseMs) =>
      use(() =>
        alone(connection, () => {
          const now = clock.now();
          const before = sql('claim').get(scope, key);
          const isOver = Number(before?.['until'] ?? 0) <= now;
          const isDone = before !== undefined && before['status'] !== null;
          if (before !== undefined && !(isOver && isDone)) {
            if (before['fingerprint'] !== fingerprint) return { state: 'conflict' };
            if (isDone)
              return { state: 'done', reply: { status: Number(before['status']), body: String(before['body']) } };
            if (!isOver) return { state: 'busy' };
          }
          sql('takeClaim').run(scope, key, fingerprint, owner, now + leaseMs);
          return { state: 'yours', again: before !== undefined && !isDone };
        }),
      ),
    settle({ scope, key }, owner, { status, body }, keepMs) {
      use(() => sql('settleClaim').run(scope, key, owner, status, body, clock.now() + keepMs));
    },
    abandon({ scope, key }, owner) {
      use(() => sql('abandonClaim').run(scope, key, owner));
    },
    purge: () => use(() => Number(sql('purgeClaims').run(clock.now()).changes)),

    secret: (name) =>
      use(() => {
        const read = (): string | undefined => sql('secret').get(name)?.['secret']?.toString();
        const known = read();
        if (known !== undefined) return known;
        safely(connection, () => sql('addSecret').run(name, newSecret()));
        return read() ?? '';
      }),

    readSelection: (key) =>
      use(() => {
        const row = sql('selection').get(...placeOf(key));
        return row === undefined ? undefined : storedSelection(String(row['value']), Number(row['revision']));
      }),
    writeSelection: (key, value, expected) =>
      use(() => {
        const text = canonicalJson(value);
        const written =
          expected === 0
            ? sql('addSelection').run(...placeOf(key), text)
            : sql('replaceSelection').run(...placeOf(key), text, expected);
        return written.changes === 1;
      }),

    readAccount: ({ tenant, userId, provider }) =>
      use(() => {
        const row = sql('account').get(tenant, userId, provider);
        return row === undefined ? undefined : { sealed: String(row['sealed']), revision: Number(row['revision']) };
      }),
    writeAccount: ({ tenant, userId, provider }, sealed, expected) =>
      use(() =>
        safely(connection, () => {
          const written =
            expected === 0
              ? sql('addAccount').run(tenant, userId, provider, sealed)
              : sql('replaceAccount').run(tenant, userId, provider, sealed, expected);
          return written.changes === 1;
        }),
      ),
    removeAccount: ({ tenant, userId, provider }) =>
      use(() => safely(connection, () => sql('removeAccount').run(tenant, userId, provider).changes === 1)),
    accountsOf: ({ tenant, userId }) =>
      use(() =>
        sql('accountsOf')
          .all(tenant, userId)
          .map((row) => ({ provider: String(row['provider']), sealed: String(row['sealed']) })),
      ),

    addAllowance: ({ tenant, userId }, given) =>
      use(() => {
        safely(connection, () => sql('addAllowance').run(tenant, userId, given.id, allowanceText(given)));
      }),
    allowancesOf: ({ tenant, userId }) =>
      use(() =>
        sql('allowancesOf')
          .all(tenant, userId)
          .flatMap((row) => storedAllowance(String(row['value'])) ?? []),
      ),
    revokeAllowance: ({ tenant, userId }, id, at) =>
      use(() => safely(connection, () => sql('revokeAllowance').run(tenant, userId, id, at).changes === 1)),

    toolsOf: ({ tenant, userId, bundle }) =>
      use(() =>
        sql('toolsOf')
          .all(tenant, userId, bundle)
          .map((row) => ({ server: String(row['server']), tool: String(row['tool']), digest: String(row['digest']) })),
      ),
    rememberTool: ({ tenant, userId, bundle }, { server, tool, digest }) =>
      use(() => {
        safely(connection, () => sql('rememberTool').run(tenant, userId, bundle, server, tool, digest));
      }),

    close() {
      if (connection.isOpen) connection.close();
    },
  };
}

/** Work in one transaction that no other process can slip into. */
function alone<T>(connection: DatabaseSync, work: () => T): T {
  connection.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    connection.exec('COMMIT');
    return result;
  } catch (problem) {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    throw problem;
  }
}

/** A write that survives a power cut. */
function safely<T>(connection: DatabaseSync, work: () => T): T {
  connection.exec('PRAGMA synchronous = full');
  try {
    return work();
  } finally {
    connection.exec('PRAGMA synchronous = normal');
  }
}

function columnsOf(key: ApiKey): (string | number | null)[] {
  const { id, hash, name, kind, scopes, userId, tenant, createdAt, expiresAt, revokedAt, lastUsedAt } = key;
  const times = [createdAt, expiresAt ?? null, revokedAt ?? null, lastUsedAt ?? null];
  return [id, hash, name, kind, scopes.join(' '), userId, tenant, ...times];
}

function keyOf(row: Record<string, SQLOutputValue>): ApiKey {
  const words = String(row['scopes']).split(' ');
  const time = (name: string): number | undefined => (row[name] === null ? undefined : Number(row[name]));
  return {
    id: String(row['id']),
    hash: String(row['hash']),
    name: String(row['name']),
    kind: row['kind'] === 'compute' ? 'compute' : 'user',
    scopes: SCOPES.filter((scope: Scope) => words.includes(scope)),
    userId: String(row['user_id']),
    tenant: String(row['tenant']),
    createdAt: Number(row['created_at']),
    expiresAt: time('expires_at'),
    revokedAt: time('revoked_at'),
    lastUsedAt: time('last_used_at'),
  };
}
