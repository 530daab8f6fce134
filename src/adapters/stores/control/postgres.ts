import type { Clock, Instant } from '../../../base/clock.ts';
import { canonicalJson } from '../../../base/json.ts';
import { SCOPES, type ApiKey, type Claim, type ClaimOutcome, type ControlStore } from '../../../kernel/stores.ts';
import { openDatabase, type Database, type Value } from '../postgres/database.ts';
import { migrate } from '../postgres/migrate.ts';
import { readDatabaseUrl } from '../postgres/settings.ts';
import { named, now } from '../postgres/sql.ts';
import { nameOf, storedName } from '../postgres/text.ts';
import { allowanceText, storedAllowance } from './allowances.ts';
import { newSecret } from './secret.ts';
import { placeOf, storedSelection } from './selections.ts';

export interface PostgresControlStoreOptions {
  readonly url: string;
  /** Given only by tests, in which time stands still: else times are the database's own. */
  readonly clock?: Clock | undefined;
}

/** What a server keeps besides the log, over connections of its own. Throws what opening a log throws. */
export async function openPostgresControlStore(options: PostgresControlStoreOptions): Promise<ControlStore> {
  const database = await openDatabase(readDatabaseUrl(options.url));
  try {
    await migrate(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  return { ...createPostgresControlStore(database, options), close: () => database.close() };
}

/** The same over the log's connections, which the log closes. */
export function createPostgresControlStore(
  database: Database,
  { clock }: Pick<PostgresControlStoreOptions, 'clock'> = {},
): ControlStore {
  const sql = statements(database.settings.schema);
  const time = (): Instant | null => clock?.now() ?? null;
  const texts = (...names: readonly string[]): Value[] => names.map(storedName);

  /** What is safe to ask twice is asked again where the connection was lost. */
  const ask = (name: keyof typeof sql, values: readonly Value[]): Promise<Row[]> =>
    database.run(sql[name], values, 'some');
  const once = (name: keyof typeof sql, values: readonly Value[]): Promise<Row[]> =>
    database.run(sql[name], values, 'none');

  return {
    async add(key) {
      const { id, hash, name, kind, scopes, userId, tenant, createdAt, expiresAt, revokedAt, lastUsedAt } = key;
      const times = [createdAt, expiresAt ?? null, revokedAt ?? null, lastUsedAt ?? null];
      const added = await once('addKey', [...texts(id, hash, name, kind, scopes.join(' '), userId, tenant), ...times]);
      if (added.length === 0) throw new RangeError(`the key ${id} exists`);
    },
    async find(id) {
      const [row] = await ask('findKey', texts(id));
      return row === undefined ? undefined : keyOf(row);
    },
    async list() {
      return (await ask('listKeys', [])).map(keyOf);
    },
    async revoke(id, at) {
      return (await ask('revokeKey', [storedName(id), at])).length === 1;
    },
    async used(id, at) {
      await ask('usedKey', [storedName(id), at]);
    },
    async any() {
      return (await ask('anyKey', []))[0]?.['found'] === true;
    },

    async begin({ scope, key, fingerprint }: Claim, owner, leaseMs): Promise<ClaimOutcome> {
      for (;;) {
        const [taken] = await once('takeClaim', [...texts(scope, key, fingerprint, owner), leaseMs, time()]);
        if (taken !== undefined) return { state: 'yours', again: taken['again'] === true };
        const [held] = await ask('claim', [...texts(scope, key), time()]);
        if (held === undefined) continue; // let go in between
        if (held['fingerprint'] !== storedName(fingerprint)) return { state: 'conflict' };
        if (held['status'] !== null)
          return { state: 'done', reply: { status: Number(held['status']), body: nameOf(String(held['body'])) } };
        if (held['over'] !== true) return { state: 'busy' };
      }
    },
    async settle({ scope, key }, owner, { status, body }, keepMs) {
      await ask('settleClaim', [...texts(scope, key, owner), status, storedName(body), keepMs, time()]);
    },
    async abandon({ scope, key }, owner) {
      await ask('abandonClaim', texts(scope, key, owner));
    },
    async purge() {
      return (await ask('purgeClaims', [time()])).length;
    },

    async secret(name) {
      await ask('addSecret', texts(name, newSecret()));
      return String((await ask('secret', texts(name)))[0]?.['secret']);
    },

    async readSelection(key) {
      const [row] = await ask('selection', texts(...placeOf(key)));
      return row === undefined ? undefined : storedSelection(String(row['value']), Number(row['revision']));
    },
    async writeSelection(key, value, expected) {
      const values = [...texts(...placeOf(key)), canonicalJson(value)];
      const written = await (expected === 0
        ? once('addSelection', values)
        : once('replaceSelection', [...values, expected]));
      return written.length === 1;
    },

    async readAccount({ tenant, userId, provider }) {
      const [row] = await ask('account', texts(tenant, userId, provider));
      return row === undefined ? undefined : { sealed: String(row['sealed']), revision: Number(row['revision']) };
    },
    async writeAccount({ tenant, userId, provider }, sealed, expected) {
      const values = texts(tenant, userId, provider, sealed);
      const written = await (expected === 0
        ? once('addAccount', values)
        : once('replaceAccount', [...values, expected]));
      return written.length === 1;
    },
    async removeAccount({ tenant, userId, provider }) {
      return (await once('removeAccount', texts(tenant, userId, provider))).length === 1;
    },
    async accountsOf({ tenant, userId }) {
      const rows = await ask('accountsOf', texts(tenant, userId));
      return rows.map((row) => ({ provider: nameOf(String(row['provider'])), sealed: String(row['sealed']) }));
    },

    async addAllowance({ tenant, userId }, given) {
      await ask('addAllowance', [...texts(tenant, userId, given.id), allowanceText(given)]);
    },
    async allowancesOf({ tenant, userId }) {
      const rows = await ask('allowancesOf', texts(tenant, userId));
      return rows.flatMap((row) => storedAllowance(String(row['value'])) ?? []);
    },
    async revokeAllowance({ tenant, userId }, id, at) {
      return (await once('revokeAllowance', [...texts(tenant, userId, id), at])).length === 1;
    },

    async toolsOf({ tenant, userId, bundle }) {
      const rows = await ask('toolsOf', texts(tenant, userId, bundle));
      const text = (row: Row, name: string): string => nameOf(String(row[name]));
      return rows.map((row) => ({ server: text(row, 'server'), tool: text(row, 'tool'), digest: text(row, 'digest') }));
    },
    async rememberTool({ tenant, userId, bundle }, { server, tool, digest }) {
      await ask('rememberTool', texts(tenant, userId, bundle, server, tool, digest));
    },

    close: () => undefined,
  };
}

type Row = Readonly<Record<string, unknown>>;

function keyOf(row: Row): ApiKey {
  const text = (name: string): string => nameOf(String(row[name]));
  const time = (name: string): number | undefined => (row[name] === null ? undefined : Number(row[name]));
  const words = text('scopes').split(' ');
  return {
    id: text('id'),
    hash: text('hash'),
    name: text('name'),
    kind: row['kind'] === 'compute' ? 'compute' : 'user',
    scopes: SCOPES.filter((scope) => words.includes(scope)),
    userId: text('user_id'),
    tenant: text('tenant'),
    createdAt: Number(row['created_at']),
    expiresAt: time('expires_at'),
    revokedAt: time('revoked_at'),
    lastUsedAt: time('last_used_at'),
  };
}

const KEY = 'id, hash, name, kind, scopes, user_id, tenant, created_at, expires_at, revoked_at, last_used_at';

function statements(s: string) {
  return named(
    {
      addKey: `INSERT INTO ${s}.api_keys (${KEY}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        ON CONFLICT (id) DO NOTHING RETURNING id`,
      findKey: `SELECT ${KEY} FROM ${s}.api_keys WHERE id = $1`,
      listKeys: `SELECT ${KEY} FROM ${s}.api_keys ORDER BY key DESC`,
      revokeKey: `UPDATE ${s}.api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING id`,
      usedKey: `UPDATE ${s}.api_keys SET last_used_at = $2 WHERE id = $1`,
      anyKey: `SELECT EXISTS (SELECT 1 FROM ${s}.api_keys) AS found`,

      // Whoever finds it over, its reply forgotten or its owner gone, has it; of several at once the first.
      takeClaim: `INSERT INTO ${s}.claims AS c (scope, key, fingerprint, owner, until)
        VALUES ($1, $2, $3, $4, ${now('$6')} + $5::bigint)
        ON CONFLICT (scope, key) DO UPDATE SET again = c.status IS NULL, fingerprint = excluded.fingerprint,
          owner = excluded.owner, until = excluded.until, status = NULL, body = NULL
        WHERE c.until <= ${now('$6')} AND (c.status IS NOT NULL OR c.fingerprint = excluded.fingerprint)
        RETURNING again`,
      claim: `SELECT fingerprint, status, body, until <= ${now('$3')} AS over FROM ${s}.claims
        WHERE scope = $1 AND key = $2`,
      settleClaim: `UPDATE ${s}.claims SET status = $4, body = $5, until = ${now('$7')} + $6::bigint
        WHERE scope = $1 AND key = $2 AND owner = $3 AND status IS NULL`,
      abandonClaim: `DELETE FROM ${s}.claims WHERE scope = $1 AND key = $2 AND owner = $3 AND status IS NULL`,
      purgeClaims: `DELETE FROM ${s}.claims WHERE status IS NOT NULL AND until <= ${now('$1')} RETURNING 1`,

      addSecret: `INSERT INTO ${s}.secrets (name, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
      secret: `SELECT secret FROM ${s}.secrets WHERE name = $1`,

      selection: `SELECT value, revision FROM ${s}.selections
        WHERE tenant = $1 AND user_id = $2 AND bundle = $3 AND agent = $4 AND conversation = $5`,
      addSelection: `INSERT INTO ${s}.selections (tenant, user_id, bundle, agent, conversation, value, revision)
        VALUES ($1, $2, $3, $4, $5, $6, 1) ON CONFLICT DO NOTHING RETURNING revision`,
      replaceSelection: `UPDATE ${s}.selections SET value = $6, revision = revision + 1
        WHERE tenant = $1 AND user_id = $2 AND bundle = $3 AND agent = $4 AND conversation = $5 AND revision = $7
        RETURNING revision`,

      account: `SELECT sealed, revision FROM ${s}.connected_accounts
        WHERE tenant = $1 AND user_id = $2 AND provider = $3`,
      addAccount: `INSERT INTO ${s}.connected_accounts (tenant, user_id, provider, sealed, revision)
        VALUES ($1, $2, $3, $4, 1 + floor(random() * 1000000000000)::bigint) ON CONFLICT DO NOTHING RETURNING revision`,
      replaceAccount: `UPDATE ${s}.connected_accounts SET sealed = $4, revision = revision + 1
        WHERE tenant = $1 AND user_id = $2 AND provider = $3 AND revision = $5 RETURNING revision`,
      removeAccount: `DELETE FROM ${s}.connected_accounts WHERE tenant = $1 AND user_id = $2 AND provider = $3
        RETURNING provider`,
      accountsOf: `SELECT provider, sealed FROM ${s}.connected_accounts WHERE tenant = $1 AND user_id = $2
        ORDER BY provider`,

      addAllowance: `INSERT INTO ${s}.allowances (tenant, user_id, id, value) VALUES ($1, $2, $3, $4)
        ON CONFLICT DO NOTHING`,
      allowancesOf: `SELECT value FROM ${s}.allowances WHERE tenant = $1 AND user_id = $2 AND revoked_at IS NULL
        ORDER BY allowance DESC`,
      revokeAllowance: `UPDATE ${s}.allowances SET revoked_at = $4
        WHERE tenant = $1 AND user_id = $2 AND id = $3 AND revoked_at IS NULL RETURNING id`,

      toolsOf: `SELECT server, tool, digest FROM ${s}.tool_descriptions
        WHERE tenant = $1 AND user_id = $2 AND bundle = $3 ORDER BY server, tool`,
      rememberTool: `INSERT INTO ${s}.tool_descriptions (tenant, user_id, bundle, server, tool, digest)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (tenant, user_id, bundle, server, tool) DO UPDATE SET digest = excluded.digest`,
    },
    `${s}_`,
  );
}
