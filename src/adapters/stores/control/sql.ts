import { LEDGER_TABLES } from '../ledger/sql.ts';
import { NOTE_TABLES } from '../notes/sql.ts';
import type { FileFormat } from '../sqlite/format.ts';

/** Every word of SQL of the control store. Times are milliseconds since 1970. */
export const CONTROL_FORMAT: FileFormat = {
  /** `TRDS`. */
  applicationId: 0x54524453,
  what: 'a control file of Treadle',
  migrations: [
    `
    CREATE TABLE keys (
      key INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      hash TEXT NOT NULL,
      name TEXT NOT NULL,
      kind TEXT NOT NULL,
      scopes TEXT NOT NULL, -- words with spaces between
      user_id TEXT NOT NULL,
      tenant TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER,
      revoked_at INTEGER,
      last_used_at INTEGER
    ) STRICT;

    CREATE TABLE claims (
      scope TEXT NOT NULL,
      key TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      owner TEXT NOT NULL,
      until INTEGER NOT NULL,
      status INTEGER, -- NULL while somebody is at it
      body TEXT,
      PRIMARY KEY (scope, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX claims_over ON claims (until) WHERE status IS NOT NULL;

    CREATE TABLE secrets (name TEXT PRIMARY KEY, secret TEXT NOT NULL) STRICT, WITHOUT ROWID;
    `,
    LEDGER_TABLES,
    `
    CREATE TABLE selections (
      tenant TEXT NOT NULL,
      user_id TEXT NOT NULL,
      bundle TEXT NOT NULL,
      agent TEXT NOT NULL,
      conversation TEXT NOT NULL, -- empty: the user's own
      value TEXT NOT NULL,
      revision INTEGER NOT NULL,
      PRIMARY KEY (tenant, user_id, bundle, agent, conversation)
    ) STRICT, WITHOUT ROWID;
    `,
    `
    CREATE TABLE connected_accounts (
      tenant TEXT NOT NULL,
      user_id TEXT NOT NULL,
      provider TEXT NOT NULL,
      sealed TEXT NOT NULL,
      revision INTEGER NOT NULL, -- by chance, so that a row that was removed and made again is another one
      PRIMARY KEY (tenant, user_id, provider)
    ) STRICT, WITHOUT ROWID;
    `,
    `
    CREATE TABLE allowances (
      allowance INTEGER PRIMARY KEY,
      tenant TEXT NOT NULL,
      user_id TEXT NOT NULL,
      id TEXT NOT NULL,
      value TEXT NOT NULL,
      revoked_at INTEGER, -- kept, so that the answer that made it does not make it again
      UNIQUE (tenant, user_id, id)
    ) STRICT;
    `,
    NOTE_TABLES,
    `
    CREATE TABLE tool_descriptions (
      tenant TEXT NOT NULL,
      user_id TEXT NOT NULL,
      bundle TEXT NOT NULL,
      server TEXT NOT NULL,
      tool TEXT NOT NULL, -- as the server calls it
      digest TEXT NOT NULL, -- of the description under which it ran last
      PRIMARY KEY (tenant, user_id, bundle, server, tool)
    ) STRICT, WITHOUT ROWID;
    `,
  ],
};

const KEY = 'id, hash, name, kind, scopes, user_id, tenant, created_at, expires_at, revoked_at, last_used_at';

export const CONTROL_SQL = {
  addKey: `INSERT INTO keys (${KEY}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  findKey: `SELECT ${KEY} FROM keys WHERE id = ?`,
  listKeys: `SELECT ${KEY} FROM keys ORDER BY key DESC`,
  revokeKey: 'UPDATE keys SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1',
  usedKey: 'UPDATE keys SET last_used_at = ?2 WHERE id = ?1',
  anyKey: 'SELECT EXISTS (SELECT 1 FROM keys) AS found',

  claim: 'SELECT fingerprint, owner, until, status, body FROM claims WHERE scope = ? AND key = ?',
  takeClaim: `INSERT INTO claims (scope, key, fingerprint, owner, until) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (scope, key) DO UPDATE SET
      fingerprint = excluded.fingerprint, owner = excluded.owner, until = excluded.until, status = NULL, body = NULL`,
  settleClaim: `UPDATE claims SET status = ?4, body = ?5, until = ?6
    WHERE scope = ?1 AND key = ?2 AND owner = ?3 AND status IS NULL`,
  abandonClaim: 'DELETE FROM claims WHERE scope = ?1 AND key = ?2 AND owner = ?3 AND status IS NULL',
  purgeClaims: 'DELETE FROM claims WHERE status IS NOT NULL AND until <= ?',

  addSecret: 'INSERT INTO secrets (name, secret) VALUES (?, ?) ON CONFLICT DO NOTHING',
  secret: 'SELECT secret FROM secrets WHERE name = ?',

  selection: `SELECT value, revision FROM selections
    WHERE tenant = ? AND user_id = ? AND bundle = ? AND agent = ? AND conversation = ?`,
  addSelection: `INSERT INTO selections (tenant, user_id, bundle, agent, conversation, value, revision)
    VALUES (?, ?, ?, ?, ?, ?, 1) ON CONFLICT DO NOTHING`,
  replaceSelection: `UPDATE selections SET value = ?6, revision = revision + 1
    WHERE tenant = ?1 AND user_id = ?2 AND bundle = ?3 AND agent = ?4 AND conversation = ?5 AND revision = ?7`,

  account: 'SELECT sealed, revision FROM connected_accounts WHERE tenant = ? AND user_id = ? AND provider = ?',
  addAccount: `INSERT INTO connected_accounts (tenant, user_id, provider, sealed, revision)
    VALUES (?1, ?2, ?3, ?4, 1 + abs(random() % 1000000000000)) ON CONFLICT DO NOTHING`,
  replaceAccount: `UPDATE connected_accounts SET sealed = ?4, revision = revision + 1
    WHERE tenant = ?1 AND user_id = ?2 AND provider = ?3 AND revision = ?5`,
  removeAccount: 'DELETE FROM connected_accounts WHERE tenant = ? AND user_id = ? AND provider = ?',
  accountsOf: 'SELECT provider, sealed FROM connected_accounts WHERE tenant = ? AND user_id = ? ORDER BY provider',

  addAllowance: `INSERT INTO allowances (tenant, user_id, id, value) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  allowancesOf: `SELECT value FROM allowances WHERE tenant = ? AND user_id = ? AND revoked_at IS NULL
    ORDER BY allowance DESC`,
  revokeAllowance: `UPDATE allowances SET revoked_at = ?4
    WHERE tenant = ?1 AND user_id = ?2 AND id = ?3 AND revoked_at IS NULL`,

  toolsOf: `SELECT server, tool, digest FROM tool_descriptions WHERE tenant = ? AND user_id = ? AND bundle = ?
    ORDER BY server, tool`,
  rememberTool: `INSERT INTO tool_descriptions (tenant, user_id, bundle, server, tool, digest) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, user_id, bundle, server, tool) DO UPDATE SET digest = excluded.digest`,
} as const satisfies Record<string, string>;
