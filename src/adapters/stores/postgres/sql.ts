import type { Statement } from './database.ts';

const ROW = `id, agent, bundle, user_id, tenant, agent_path, created_at, status, title, updated_at, head,
  parent, parent_action, root, metadata, limits, archived_at`;
const FACT = 'type, v, turn, iteration, cause, source, key, rest, body, blob';

/** Now: what the caller says, or else the clock of the database, which all processes share. */
export const now = (parameter: string): string =>
  `coalesce(${parameter}::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`;

/** What nobody holds and has work, in one of `bundles` where there are some. */
const FREE = `waiting_since IS NOT NULL AND (owner IS NULL OR until <= t.now)`;
const OF_BUNDLES = '($2::text[] IS NULL OR bundle = ANY ($2))';

/** Every statement of the log. Each is one round trip, and where it writes, all that it writes is one transaction. */
export function logStatements(s: string) {
  const statements = {
    create: `INSERT INTO ${s}.conversations
      (id, agent, bundle, user_id, tenant, agent_path, created_at, updated_at, minute,
        parent, parent_action, root, metadata, limits)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (id) DO NOTHING RETURNING key`,
    find: `SELECT ${ROW} FROM ${s}.conversations WHERE id = $1`,
    archive: `UPDATE ${s}.conversations SET archived_at = CASE WHEN $2 THEN coalesce(archived_at, ${now('$3')}) END
      WHERE id = $1 RETURNING key`,
    rename: `UPDATE ${s}.conversations SET title = $2, folded_title = $3 WHERE id = $1 RETURNING key`,

    read: `SELECT c.agent_path, c.head, f.seq, f.type, f.v, f.at, f.turn, f.iteration, f.cause, f.source, f.rest, f.body,
        b.content
      FROM ${s}.conversations c
      LEFT JOIN LATERAL (
        SELECT * FROM ${s}.facts WHERE conversation = c.key AND seq > $2 ORDER BY seq LIMIT $3
      ) f ON true
      LEFT JOIN ${s}.blobs b ON b.hash = f.blob
      WHERE c.id = $1 ORDER BY f.seq`,

    // What was read of keys is as old as the statement, and the row that is updated is as new as its lock. The two differ
    // only where somebody stated a fact in between; then the head has moved, and nothing is added.
    append: `WITH drafts AS (
        SELECT * FROM unnest($5::text[], $6::int[], $7::int[], $8::bigint[], $9::bigint[], $10::text[], $11::text[],
          $12::text[], $13::text[], $14::bytea[]) WITH ORDINALITY AS d (${FACT}, place)
      ), fresh AS (
        SELECT d.*, row_number() OVER (ORDER BY d.place) AS nth FROM drafts d
        WHERE d.key IS NULL OR NOT EXISTS (
          SELECT 1 FROM ${s}.facts f WHERE f.type = d.type AND f.key = d.key
            AND f.conversation = (SELECT c.key FROM ${s}.conversations c WHERE c.id = $1))
      ), moved AS (
        UPDATE ${s}.conversations c SET head = $3 + n.count, seen = $3 + n.count, updated_at = t.now,
          minute = t.now / 60000, status = coalesce($15, c.status),
          title = CASE WHEN c.title = '' THEN coalesce($16, '') ELSE c.title END,
          folded_title = CASE WHEN c.title = '' THEN coalesce($17, '') ELSE c.folded_title END
        FROM (SELECT count(*) FROM fresh) n, (SELECT ${now('$4')} AS now) t
        WHERE c.id = $1 AND c.epoch = $2 AND c.owner IS NOT NULL AND c.head = $3
        RETURNING c.key, c.agent_path, c.updated_at
      ), stored AS (
        INSERT INTO ${s}.blobs (hash, content)
        SELECT b.hash, b.content FROM moved, unnest($18::bytea[], $19::bytea[]) b (hash, content)
        WHERE b.hash IN (SELECT blob FROM fresh) ORDER BY b.hash
        ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash
      ), added AS (
        INSERT INTO ${s}.facts (conversation, seq, at, ${FACT})
        SELECT moved.key, $3 + fresh.nth, moved.updated_at, ${FACT.replace(/\w+/g, 'fresh.$&')} FROM moved, fresh
      )
      SELECT moved.agent_path, moved.updated_at AS at, (SELECT array_agg(place::int ORDER BY nth) FROM fresh) AS places
      FROM moved`,
    standing: `SELECT epoch, owner, head FROM ${s}.conversations WHERE id = $1`,

    post: `WITH known AS (
        SELECT f.seq FROM ${s}.facts f JOIN ${s}.conversations c ON c.key = f.conversation
        WHERE c.id = $1 AND f.type = $3 AND f.key = $9
      ), moved AS (
        UPDATE ${s}.conversations c SET head = head + 1, posted = head + 1, updated_at = t.now, minute = t.now / 60000,
          waiting_since = coalesce(waiting_since, t.now)
        FROM (SELECT ${now('$2')} AS now) t
        WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM known)
        RETURNING c.key, c.head, c.agent_path, c.updated_at, c.bundle, c.waiting_since = c.updated_at AS woken
      ), stored AS (
        INSERT INTO ${s}.blobs (hash, content) SELECT $12::bytea, $13::bytea FROM moved WHERE $12::bytea IS NOT NULL
        ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash
      ), added AS (
        INSERT INTO ${s}.facts (conversation, seq, at, ${FACT})
        SELECT key, head, updated_at, $3, $4::int, $5::int, $6::bigint, $7::bigint, $8, $9, $10, $11, $12::bytea
        FROM moved
      )
      SELECT head AS seq, agent_path, updated_at AS at, bundle, woken, true AS fresh FROM moved
      UNION ALL SELECT seq, NULL, NULL, NULL, false, false FROM known`,

    take: `UPDATE ${s}.conversations c SET epoch = epoch + 1, owner = $2, until = t.now + $3, seen = head,
        waiting_since = coalesce(waiting_since, t.now), continue_at = NULL
      FROM (SELECT ${now('$4')} AS now) t
      WHERE id = $1 AND (owner IS NULL OR owner = $2 OR until <= t.now) RETURNING epoch, until`,
    renew: `UPDATE ${s}.conversations SET until = greatest(until, ${now('$4')} + $3)
      WHERE id = $1 AND epoch = $2 AND owner IS NOT NULL RETURNING until`,
    // See leavesWork in standing.ts: $3 is whether the holder says that there is more, $4 when it goes on.
    release: `UPDATE ${s}.conversations SET owner = NULL, continue_at = $4, waiting_since = CASE
        WHEN $3 OR posted > seen OR ($4::bigint IS NULL AND status = ANY ($5::text[])) THEN ${now('$6')} END
      WHERE id = $1 AND epoch = $2 AND owner IS NOT NULL RETURNING waiting_since, continue_at, bundle,
        EXISTS (SELECT 1 FROM ${s}.conversations w WHERE w.waiting_since IS NOT NULL AND w.owner IS NULL) AS more`,

    ready: `SELECT id, since, ${now('$3')} AS now FROM (
        (SELECT id, waiting_since AS since, key FROM ${s}.conversations, (SELECT ${now('$3')} AS now) t
          WHERE ${FREE} AND ${OF_BUNDLES} ORDER BY waiting_since, key LIMIT $1)
        UNION ALL
        (SELECT id, continue_at, key FROM ${s}.conversations, (SELECT ${now('$3')} AS now) t
          WHERE continue_at <= t.now AND waiting_since IS NULL AND ${OF_BUNDLES} ORDER BY continue_at, key LIMIT $1)
      ) r ORDER BY since, key LIMIT $1`,
    // From tenant to tenant along the index, however much one of them has waiting; see fair.ts.
    turns: `WITH RECURSIVE t AS (SELECT ${now('$3')} AS now), tenants AS (
        (SELECT tenant FROM ${s}.conversations WHERE waiting_since IS NOT NULL
          ORDER BY tenant, waiting_since LIMIT 1)
        UNION ALL
        SELECT (SELECT c.tenant FROM ${s}.conversations c WHERE c.waiting_since IS NOT NULL AND c.tenant > tenants.tenant
          ORDER BY c.tenant, c.waiting_since LIMIT 1) FROM tenants WHERE tenants.tenant IS NOT NULL
      ), held AS MATERIALIZED (
        SELECT tenant, user_id, count(*) AS count FROM ${s}.conversations, t
        WHERE owner IS NOT NULL AND until > t.now GROUP BY tenant, user_id
      ), free AS (
        SELECT f.* FROM t, tenants, LATERAL (
          SELECT id, tenant, user_id, waiting_since AS since, key FROM ${s}.conversations c
          WHERE c.tenant = tenants.tenant AND ${FREE} AND ${OF_BUNDLES} AND ($5::bigint IS NULL OR NOT EXISTS (
            SELECT 1 FROM held h WHERE h.tenant = c.tenant AND h.user_id = c.user_id AND h.count >= $5))
          ORDER BY waiting_since, key LIMIT $1
        ) f
        UNION ALL
        (SELECT id, tenant, user_id, continue_at, key FROM ${s}.conversations, t
          WHERE continue_at <= t.now AND waiting_since IS NULL AND ${OF_BUNDLES} ORDER BY continue_at, key LIMIT $1)
      ), placed AS (
        SELECT id, since, key,
          row_number() OVER (PARTITION BY tenant ORDER BY since, key)
            + coalesce((SELECT sum(h.count) FROM held h WHERE h.tenant = free.tenant), 0) AS place,
          row_number() OVER (PARTITION BY tenant, user_id ORDER BY since, key)
            + coalesce((SELECT h.count FROM held h WHERE h.tenant = free.tenant AND h.user_id = free.user_id), 0) AS own
        FROM free
      )
      SELECT id, since FROM placed
      WHERE ($4::bigint IS NULL OR place <= $4) AND ($5::bigint IS NULL OR own <= $5)
      ORDER BY place, since, key LIMIT $1`,
    // As a distance: the clocks of others may go differently.
    due: `SELECT least(
        (SELECT min(continue_at) FROM ${s}.conversations
          WHERE continue_at IS NOT NULL AND waiting_since IS NULL AND ($1::text[] IS NULL OR bundle = ANY ($1))),
        (SELECT min(until) FROM ${s}.conversations
          WHERE waiting_since IS NOT NULL AND owner IS NOT NULL AND ($1::text[] IS NULL OR bundle = ANY ($1)))
      ) - ${now('$2')} AS ms`,
    // From when on there is some that nobody holds, and in how many milliseconds; NULL: not before somebody states a fact.
    workOf: `SELECT bundle, epoch, at, CASE WHEN at IS NOT NULL THEN greatest(0, at - ${now('$2')}) END AS ms FROM (
        SELECT bundle, epoch, CASE
          WHEN waiting_since IS NULL THEN continue_at
          WHEN owner IS NULL THEN waiting_since
          ELSE until END AS at
        FROM ${s}.conversations WHERE id = $1) c`,
    counts: `SELECT status, sum(count)::bigint AS count FROM ${s}.run_counts GROUP BY status HAVING sum(count) <> 0`,
    heads: `SELECT id, head FROM ${s}.conversations WHERE id = ANY ($1::text[])`,

    fork: `WITH source AS (
        SELECT key, title, folded_title, least(head, $14::bigint) AS head
        FROM ${s}.conversations WHERE id = $13 FOR SHARE
      ), target AS (
        INSERT INTO ${s}.conversations
          (id, agent, bundle, user_id, tenant, agent_path, created_at, updated_at, minute,
            parent, parent_action, root, metadata, limits, head, seen, title, folded_title)
        SELECT $1, $2, $3, $4, $5, $6, $7::bigint, $7::bigint, $7::bigint / 60000,
          $8, $9, $10, $11, $12, head, head, title, folded_title FROM source
        ON CONFLICT (id) DO NOTHING RETURNING key, head
      ), copied AS (
        INSERT INTO ${s}.facts (conversation, seq, at, ${FACT})
        SELECT target.key, f.seq, f.at, ${FACT.replace(/\w+/g, 'f.$&')}
        FROM target, source JOIN ${s}.facts f ON f.conversation = source.key WHERE f.seq <= target.head
      ), granted AS (
        INSERT INTO ${s}.conversation_blobs (conversation, hash)
        SELECT target.key, b.hash FROM target, source JOIN ${s}.conversation_blobs b ON b.conversation = source.key
      )
      SELECT EXISTS (SELECT 1 FROM source) AS known, EXISTS (SELECT 1 FROM target) AS made`,

    writeBody: `WITH c AS (
        SELECT key FROM ${s}.conversations WHERE id = $1 FOR KEY SHARE
      ), stored AS (
        INSERT INTO ${s}.blobs (hash, content) SELECT $2::bytea, $3::bytea FROM c
        ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash
      ), granted AS (
        INSERT INTO ${s}.conversation_blobs (conversation, hash) SELECT key, $2::bytea FROM c ON CONFLICT DO NOTHING
      )
      SELECT key FROM c`,
    readBody: `SELECT b.content FROM ${s}.conversations c JOIN ${s}.conversation_blobs g ON g.conversation = c.key
      JOIN ${s}.blobs b ON b.hash = g.hash WHERE c.id = $1 AND b.hash = $2`,

    notify: 'SELECT pg_notify($1, m) FROM unnest($2::text[]) m',
  } as const;
  return named(statements, `${s}_`);
}

export type LogStatements = ReturnType<typeof logStatements>;

/** The listing, with no condition that is not asked for: each of them has an index of its own to go by. */
export function listing(s: string, conditions: readonly string[], limit: string): string {
  return `SELECT ${ROW} FROM ${s}.conversations WHERE ${conditions.join(' AND ')}
    ORDER BY minute DESC, updated_at DESC, id DESC LIMIT ${limit}`;
}

/** The server knows a statement by the beginning of its name, so what tells two apart comes first. */
export function named<T extends Readonly<Record<string, string>>>(
  statements: T,
  prefix: string,
): { readonly [N in keyof T]: Statement } {
  const entries = Object.entries(statements).map(
    ([name, text]) => [name, { name: `${name}_${prefix}`, text }] as const,
  );
  return Object.fromEntries(entries) as { readonly [N in keyof T]: Statement }; // the same names
}
