/** The tables of the ledger, in the control file: one step of its migrations. */
export const LEDGER_TABLES = `
  CREATE TABLE usage_days (
    tenant TEXT NOT NULL,
    day TEXT NOT NULL,
    user_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    bundle TEXT NOT NULL,
    provider TEXT NOT NULL, -- empty for actions
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    actions INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    unreported INTEGER NOT NULL,
    usage TEXT NOT NULL, -- JSON
    cost TEXT NOT NULL, -- decimal
    PRIMARY KEY (tenant, day, user_id, agent, bundle, provider, model)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE accounts (
    account TEXT NOT NULL,
    period TEXT NOT NULL,
    calls INTEGER NOT NULL,
    actions INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    money TEXT NOT NULL, -- decimal, as charged to budgets
    cost TEXT NOT NULL, -- decimal, as billed
    unpriced INTEGER NOT NULL,
    unreported INTEGER NOT NULL,
    PRIMARY KEY (account, period)
  ) STRICT, WITHOUT ROWID;

  -- The last fact of each conversation that was counted.
  CREATE TABLE positions (conversation TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  -- One row for each account that a reservation is held under.
  CREATE TABLE reservations (
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    conversation TEXT NOT NULL,
    owner TEXT NOT NULL,
    until INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    actions INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    nanos INTEGER NOT NULL, -- billionths of a dollar
    PRIMARY KEY (account, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX reservations_of ON reservations (conversation);
  CREATE INDEX reservations_over ON reservations (until);
`;

const DAY = 'user_id, agent, bundle, provider, model, day';
const DAY_FIGURES = 'calls, failed, actions, unpriced, unreported, usage, cost';
const ACCOUNT = 'calls, actions, tokens, money, cost, unpriced, unreported';

export const LEDGER_SQL = {
  position: 'SELECT seq FROM positions WHERE conversation = ?',
  move: `INSERT INTO positions (conversation, seq) VALUES (?1, ?2)
    ON CONFLICT (conversation) DO UPDATE SET seq = max(seq, ?2)`,

  account: `SELECT ${ACCOUNT} FROM accounts WHERE account = ? AND period = ?`,
  putAccount: `INSERT OR REPLACE INTO accounts (account, period, ${ACCOUNT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,

  day: `SELECT ${DAY}, ${DAY_FIGURES} FROM usage_days
    WHERE tenant = ? AND user_id = ? AND agent = ? AND bundle = ? AND provider = ? AND model = ? AND day = ?`,
  putDay: `INSERT OR REPLACE INTO usage_days (tenant, ${DAY}, ${DAY_FIGURES})
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  days: `SELECT ${DAY}, ${DAY_FIGURES} FROM usage_days
    WHERE tenant = ?1 AND day BETWEEN ?2 AND ?3 AND (?4 IS NULL OR user_id = ?4)`,

  forget: 'DELETE FROM reservations WHERE until <= ?1 OR (conversation = ?2 AND owner <> ?3)',
  aside: `SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(actions), 0) AS actions,
    coalesce(sum(tokens), 0) AS tokens, coalesce(sum(nanos), 0) AS nanos
    FROM reservations WHERE account = ? AND id <> ?`,
  held: `SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(actions), 0) AS actions,
    coalesce(sum(tokens), 0) AS tokens, coalesce(sum(nanos), 0) AS nanos
    FROM reservations WHERE account = ? AND until > ?`,
  setAside: `INSERT OR REPLACE INTO reservations
    (account, id, conversation, owner, until, calls, actions, tokens, nanos) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  settle: 'DELETE FROM reservations WHERE conversation = ? AND id = ?',
  release: 'DELETE FROM reservations WHERE conversation = ?',

  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
} as const satisfies Record<string, string>;
