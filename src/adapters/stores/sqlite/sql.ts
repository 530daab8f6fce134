/**
 * Every word of SQL of the log, in one place: another database needs this file again and little else.
 *
 * Times are milliseconds since 1970. STRICT, so that a column holds what it says and rows need no second look.
 */

/** `TRDL`: tells our files from other programs' databases. */
export const APPLICATION_ID = 0x5452444c;

/** The n-th entry takes a file from version n to n + 1. Only ever add to the end. */
export const MIGRATIONS: readonly string[] = [
  `
  -- Types and sources of facts, so that a fact says each in one byte.
  CREATE TABLE names (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

  CREATE TABLE conversations (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    bundle TEXT NOT NULL,
    user_id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    agent_path TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    title TEXT NOT NULL DEFAULT '',
    updated_at INTEGER NOT NULL,
    -- updated_at in whole minutes, for the index: an append seldom has to move a row in it.
    minute INTEGER NOT NULL,
    head INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    until INTEGER NOT NULL DEFAULT 0,
    -- The head as the lease's holder last knew it, and the last fact from outside: see standing.ts.
    seen INTEGER NOT NULL DEFAULT 0,
    posted INTEGER NOT NULL DEFAULT 0,
    -- Since when there is work left or begun.
    waiting_since INTEGER
  ) STRICT;
  -- user_id is there for the filter: rows of others are passed over without being read.
  CREATE INDEX conversations_newest ON conversations (minute, user_id);
  CREATE INDEX conversations_waiting ON conversations (waiting_since) WHERE waiting_since IS NOT NULL;

  -- place is the conversation's key times 2^26 plus seq. One integer key keeps a conversation's facts side by side, needs
  -- no second index, and lets rows of up to 4 KB stay in one page, which a key of two columns would not.
  CREATE TABLE facts (
    place INTEGER PRIMARY KEY,
    type INTEGER NOT NULL,
    v INTEGER, -- NULL is 1
    at INTEGER NOT NULL,
    turn INTEGER, -- 3 is t3
    iteration INTEGER,
    cause INTEGER, -- seq of a fact of the same conversation
    source INTEGER,
    rest TEXT, -- JSON of what does not fit the four columns before
    body TEXT, -- JSON; NULL when it is a blob
    blob INTEGER
  ) STRICT;

  CREATE TABLE fact_keys (
    conversation INTEGER NOT NULL,
    type INTEGER NOT NULL,
    key TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (conversation, type, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE blobs (key INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, content BLOB NOT NULL) STRICT;

  -- Which bodies a conversation may read: a hash alone opens nothing.
  CREATE TABLE conversation_blobs (
    conversation INTEGER NOT NULL,
    blob INTEGER NOT NULL,
    PRIMARY KEY (conversation, blob)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE conversations ADD COLUMN parent TEXT;
  ALTER TABLE conversations ADD COLUMN parent_action TEXT;
  ALTER TABLE conversations ADD COLUMN root TEXT;
  ALTER TABLE conversations ADD COLUMN metadata TEXT; -- JSON
  ALTER TABLE conversations ADD COLUMN limits TEXT; -- JSON
  ALTER TABLE conversations ADD COLUMN archived_at INTEGER;
  -- When there will be work without anybody saying anything. Of no account while waiting_since is set.
  ALTER TABLE conversations ADD COLUMN continue_at INTEGER;
  CREATE INDEX conversations_children ON conversations (parent) WHERE parent IS NOT NULL;
  CREATE INDEX conversations_tree ON conversations (root) WHERE root IS NOT NULL;
  CREATE INDEX conversations_timed ON conversations (continue_at) WHERE continue_at IS NOT NULL;

  -- The bundle is there for the filter: runs of others are passed over without being read.
  DROP INDEX conversations_waiting;
  CREATE INDEX conversations_waiting ON conversations (waiting_since, bundle) WHERE waiting_since IS NOT NULL;

  -- For removing: whether anybody else has the text.
  CREATE INDEX facts_with_blob ON facts (blob) WHERE blob IS NOT NULL;
  CREATE INDEX conversation_blobs_by_blob ON conversation_blobs (blob);
  `,
  `
  -- How many runs have each status, kept by triggers: whoever looks at figures reads these few rows.
  CREATE TABLE run_counts (status TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO run_counts SELECT status, count(*) FROM conversations GROUP BY status;
  CREATE TRIGGER conversations_counted AFTER INSERT ON conversations BEGIN
    INSERT INTO run_counts VALUES (new.status, 1) ON CONFLICT (status) DO UPDATE SET count = count + 1;
  END;
  CREATE TRIGGER conversations_recounted AFTER UPDATE OF status ON conversations WHEN old.status <> new.status BEGIN
    UPDATE run_counts SET count = count - 1 WHERE status = old.status;
    INSERT INTO run_counts VALUES (new.status, 1) ON CONFLICT (status) DO UPDATE SET count = count + 1;
  END;
  CREATE TRIGGER conversations_uncounted AFTER DELETE ON conversations BEGIN
    UPDATE run_counts SET count = count - 1 WHERE status = old.status;
  END;
  `,
];

/** Facts of one conversation: 67 million. Conversations of one file: 134 million, so that a place is a safe integer. */
export const PLACES_PER_CONVERSATION = 2 ** 26;

const ROW = `id, agent, bundle, user_id, tenant, agent_path, created_at, status, title, updated_at, head,
  parent, parent_action, root, metadata, limits, archived_at`;
const LISTED = `minute <= ?1 AND (updated_at, id) < (?2, ?3)
  AND (?4 IS NULL OR user_id = ?4) AND (?5 IS NULL OR tenant = ?5) AND (?6 IS NULL OR agent = ?6)
  AND (?7 IS NULL OR status IN (SELECT value FROM json_each(?7)))
  AND (?8 IS NULL OR bundle IN (SELECT value FROM json_each(?8)))
  AND (?9 IS NULL OR (archived_at IS NULL) = ?9)
  AND (?12 IS NULL OR parent = ?12) AND (?13 IS NULL OR root = ?13) AND (?14 IS NULL OR parent IS NULL)
  AND (?15 IS NULL OR EXISTS (SELECT 1 FROM json_each(metadata) WHERE json_each.key = ?15 AND json_each.value = ?16))
  AND (?10 IS NULL OR instr(folded(title), ?10) > 0)
  ORDER BY minute DESC, updated_at DESC, id DESC LIMIT ?11`;
const FACT = 'place, type, v, at, turn, iteration, cause, source, rest, body, blob';

export const SQL = {
  create: `INSERT INTO conversations
    (id, agent, bundle, user_id, tenant, agent_path, created_at, updated_at, minute, status,
      parent, parent_action, root, metadata, limits)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, 'initializing', ?9, ?10, ?11, ?12, ?13) ON CONFLICT (id) DO NOTHING`,
  find: `SELECT ${ROW} FROM conversations WHERE id = ?`,
  list: `SELECT ${ROW} FROM conversations WHERE ${LISTED}`,
  listChildren: `SELECT ${ROW} FROM conversations WHERE parent = ?12 AND ${LISTED}`,
  listTree: `SELECT ${ROW} FROM conversations WHERE root = ?13 AND ${LISTED}`,
  rename: 'UPDATE conversations SET title = ?2 WHERE id = ?1',
  archive: `UPDATE conversations SET archived_at = iif(?2 IS NULL, NULL, coalesce(archived_at, ?2)) WHERE id = ?1`,
  standing: `SELECT key, agent_path, head, epoch, owner, until, seen, posted, status, minute FROM conversations WHERE id = ?`,
  head: 'SELECT head FROM conversations WHERE id = ?',

  facts: `SELECT ${FACT} FROM facts WHERE place > ?1 AND place <= ?2 ORDER BY place LIMIT ?3`,
  addFact: `INSERT INTO facts (${FACT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  findKey: 'SELECT seq FROM fact_keys WHERE conversation = ? AND type = ? AND key = ?',
  addKey: 'INSERT INTO fact_keys (conversation, type, key, seq) VALUES (?, ?, ?, ?)',
  appended: `UPDATE conversations SET head = ?2, seen = ?2, updated_at = ?3,
    status = coalesce(?4, status), title = iif(title = '', coalesce(?5, ''), title) WHERE key = ?1`,
  minute: 'UPDATE conversations SET minute = ?2 WHERE key = ?1',
  posted: `UPDATE conversations SET head = ?2, posted = ?2, updated_at = ?3,
    waiting_since = coalesce(waiting_since, ?3) WHERE key = ?1`,

  take: `UPDATE conversations SET epoch = epoch + 1, owner = ?2, until = ?3, seen = head,
    waiting_since = coalesce(waiting_since, ?4), continue_at = NULL WHERE key = ?1`,
  renew: 'UPDATE conversations SET until = ?2 WHERE key = ?1',
  release: 'UPDATE conversations SET owner = NULL, waiting_since = ?2, continue_at = ?3 WHERE key = ?1',
  ready: `SELECT id, waiting_since AS since FROM conversations WHERE waiting_since IS NOT NULL
    AND (?3 IS NULL OR bundle IN (SELECT value FROM json_each(?3)))
    AND (owner IS NULL OR until <= ?1) ORDER BY waiting_since, key LIMIT ?2`,
  // Of each tenant as many as are asked for, so that none of them fills the answer.
  turns: `SELECT id, tenant, user_id, since FROM (
      SELECT *, row_number() OVER (PARTITION BY tenant ORDER BY since, key) AS nth FROM (
        SELECT id, tenant, user_id, waiting_since AS since, key FROM conversations WHERE waiting_since IS NOT NULL
          AND (?3 IS NULL OR bundle IN (SELECT value FROM json_each(?3))) AND (owner IS NULL OR until <= ?1)
        UNION ALL
        SELECT id, tenant, user_id, continue_at, key FROM conversations WHERE continue_at <= ?1 AND waiting_since IS NULL
          AND (?3 IS NULL OR bundle IN (SELECT value FROM json_each(?3)))
      ) r WHERE (SELECT count(*) FROM conversations h WHERE h.waiting_since IS NOT NULL AND h.owner IS NOT NULL
        AND h.until > ?1 AND h.tenant = r.tenant AND h.user_id = r.user_id) < ?4
    ) WHERE nth <= ?2 ORDER BY since, nth`,
  held: `SELECT tenant, user_id, count(*) AS count FROM conversations
    WHERE waiting_since IS NOT NULL AND owner IS NOT NULL AND until > ? GROUP BY tenant, user_id`,
  late: `SELECT id, continue_at AS since FROM conversations WHERE continue_at <= ?1 AND waiting_since IS NULL
    AND (?3 IS NULL OR bundle IN (SELECT value FROM json_each(?3))) ORDER BY continue_at, key LIMIT ?2`,
  nextTimed: `SELECT continue_at AS at FROM conversations WHERE continue_at IS NOT NULL AND waiting_since IS NULL
    AND (?1 IS NULL OR bundle IN (SELECT value FROM json_each(?1))) ORDER BY continue_at LIMIT 1`,
  nextLapse: `SELECT min(until) AS at FROM conversations WHERE waiting_since IS NOT NULL AND owner IS NOT NULL
    AND (?1 IS NULL OR bundle IN (SELECT value FROM json_each(?1)))`,
  counts: 'SELECT status, count FROM run_counts WHERE count > 0',

  keysOf: 'SELECT type, key, seq FROM fact_keys WHERE conversation = ?',
  bodiesOf: `SELECT content FROM conversation_blobs JOIN blobs ON blobs.key = conversation_blobs.blob
    WHERE conversation = ? ORDER BY blobs.key`,
  waits: 'SELECT waiting_since, continue_at FROM conversations WHERE key = ?',
  adopted: `UPDATE conversations SET head = ?2, seen = ?2, updated_at = ?3, minute = ?4, status = ?5, title = ?6,
    archived_at = ?7, waiting_since = ?8, continue_at = ?9 WHERE key = ?1`,

  forkFacts: `INSERT INTO facts (${FACT}) SELECT place + ?1, type, v, at, turn, iteration, cause, source, rest, body, blob
    FROM facts WHERE place > ?2 AND place <= ?3`,
  forkKeys: `INSERT INTO fact_keys (conversation, type, key, seq)
    SELECT ?1, type, key, seq FROM fact_keys WHERE conversation = ?2 AND seq <= ?3`,
  forkBlobs: `INSERT INTO conversation_blobs (conversation, blob)
    SELECT ?1, blob FROM conversation_blobs WHERE conversation = ?2`,
  forked: `UPDATE conversations SET head = ?2, seen = ?2,
    title = (SELECT title FROM conversations WHERE key = ?3) WHERE key = ?1`,

  blobsOf: `SELECT blob FROM facts WHERE place > ?1 AND place <= ?2 AND blob IS NOT NULL
    UNION SELECT blob FROM conversation_blobs WHERE conversation = ?3`,
  removeFacts: 'DELETE FROM facts WHERE place > ?1 AND place <= ?2',
  removeKeys: 'DELETE FROM fact_keys WHERE conversation = ?',
  removeGrants: 'DELETE FROM conversation_blobs WHERE conversation = ?',
  removeRow: 'DELETE FROM conversations WHERE key = ?',
  removeBlob: `DELETE FROM blobs WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM facts WHERE blob = ?1)
    AND NOT EXISTS (SELECT 1 FROM conversation_blobs WHERE blob = ?1)`,

  findName: 'SELECT key FROM names WHERE name = ?',
  addName: 'INSERT INTO names (name) VALUES (?)',
  name: 'SELECT name FROM names WHERE key = ?',

  findBlob: 'SELECT key FROM blobs WHERE hash = ?',
  addBlob: 'INSERT INTO blobs (hash, content) VALUES (?, ?)',
  blob: 'SELECT content FROM blobs WHERE key = ?',
  grantBlob: 'INSERT INTO conversation_blobs (conversation, blob) VALUES (?, ?) ON CONFLICT DO NOTHING',
  grantedBlob: `SELECT blobs.content FROM conversations
    JOIN conversation_blobs ON conversation_blobs.conversation = conversations.key
    JOIN blobs ON blobs.key = conversation_blobs.blob WHERE conversations.id = ? AND blobs.hash = ?`,

  dataVersion: 'PRAGMA data_version',
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
} as const satisfies Record<string, string>;
