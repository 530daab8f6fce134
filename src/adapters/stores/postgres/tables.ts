/**
 * The tables of one schema of ours. The n-th entry takes a schema from version n to n + 1; only ever add to the end.
 *
 * Times are milliseconds since 1970. Names have `COLLATE "C"`, so that they are in the order of their bytes, whatever the
 * database was made with. JSON is text: it comes back as it went in, and it may say NUL.
 */
export const MIGRATIONS: readonly ((schema: string) => string)[] = [
  (s) => `
  CREATE TABLE ${s}.conversations (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    agent text COLLATE "C" NOT NULL,
    bundle text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    agent_path text NOT NULL,
    created_at bigint NOT NULL,
    status text NOT NULL DEFAULT 'initializing',
    title text NOT NULL DEFAULT '',
    folded_title text NOT NULL DEFAULT '',
    updated_at bigint NOT NULL,
    -- updated_at in whole minutes, for the index: an append seldom has to touch one.
    minute bigint NOT NULL,
    head bigint NOT NULL DEFAULT 0,
    epoch bigint NOT NULL DEFAULT 0,
    owner text,
    until bigint NOT NULL DEFAULT 0,
    -- The head as the lease's holder last knew it, and the last fact from outside: see standing.ts.
    seen bigint NOT NULL DEFAULT 0,
    posted bigint NOT NULL DEFAULT 0,
    -- Since when there is work left or begun.
    waiting_since bigint,
    -- When there will be work without anybody saying anything. Of no account while waiting_since is set.
    continue_at bigint,
    parent text COLLATE "C",
    parent_action text,
    root text COLLATE "C",
    metadata text,
    limits text,
    archived_at bigint
  ) WITH (fillfactor = 80); -- room for the next version of a row beside it
  CREATE INDEX conversations_newest ON ${s}.conversations (minute);
  CREATE INDEX conversations_of ON ${s}.conversations (tenant, user_id, minute);
  CREATE INDEX conversations_waiting ON ${s}.conversations (tenant, waiting_since) WHERE waiting_since IS NOT NULL;
  CREATE INDEX conversations_timed ON ${s}.conversations (continue_at) WHERE continue_at IS NOT NULL;
  CREATE INDEX conversations_children ON ${s}.conversations (parent) WHERE parent IS NOT NULL;
  CREATE INDEX conversations_tree ON ${s}.conversations (root) WHERE root IS NOT NULL;

  CREATE TABLE ${s}.facts (
    conversation bigint NOT NULL,
    seq bigint NOT NULL,
    type text COLLATE "C" NOT NULL,
    v integer, -- NULL is 1
    at bigint NOT NULL,
    turn integer, -- 3 is t3
    iteration bigint,
    cause bigint, -- seq of a fact of the same conversation
    source text,
    key text COLLATE "C",
    rest text, -- JSON of what does not fit the columns before
    body text, -- JSON; NULL when it is a blob
    blob bytea,
    PRIMARY KEY (conversation, seq)
  );
  CREATE UNIQUE INDEX facts_keyed ON ${s}.facts (conversation, type, key) WHERE key IS NOT NULL;
  CREATE INDEX facts_with_blob ON ${s}.facts (blob) WHERE blob IS NOT NULL;

  -- Long texts, each once under its SHA-256.
  CREATE TABLE ${s}.blobs (hash bytea PRIMARY KEY, content bytea NOT NULL);

  -- Which bodies a conversation may read: a hash alone opens nothing.
  CREATE TABLE ${s}.conversation_blobs (
    conversation bigint NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (conversation, hash)
  );
  CREATE INDEX conversation_blobs_by_hash ON ${s}.conversation_blobs (hash);
  `,
  (s) => `
  -- What a server keeps besides the log.
  CREATE TABLE ${s}.api_keys (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    hash text NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    scopes text NOT NULL, -- words with spaces between
    user_id text NOT NULL,
    tenant text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    last_used_at bigint
  );

  CREATE TABLE ${s}.claims (
    scope text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    fingerprint text NOT NULL,
    owner text NOT NULL,
    until bigint NOT NULL,
    again boolean NOT NULL DEFAULT false, -- somebody had begun before, and never told the end
    status integer, -- NULL while somebody is at it
    body text,
    PRIMARY KEY (scope, key)
  );
  CREATE INDEX claims_over ON ${s}.claims (until) WHERE status IS NOT NULL;

  CREATE TABLE ${s}.secrets (name text COLLATE "C" PRIMARY KEY, secret text NOT NULL);

  CREATE TABLE ${s}.selections (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    bundle text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL, -- empty: the user's own
    value text NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (tenant, user_id, bundle, agent, conversation)
  );

  CREATE TABLE ${s}.connected_accounts (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    sealed text NOT NULL,
    revision bigint NOT NULL, -- by chance, so that a row that was removed and made again is another one
    PRIMARY KEY (tenant, user_id, provider)
  );

  CREATE TABLE ${s}.allowances (
    allowance bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    value text NOT NULL,
    revoked_at bigint, -- kept, so that the answer that made it does not make it again
    UNIQUE (tenant, user_id, id)
  );

  CREATE TABLE ${s}.tool_descriptions (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    bundle text COLLATE "C" NOT NULL,
    server text COLLATE "C" NOT NULL,
    tool text COLLATE "C" NOT NULL, -- as the server calls it
    digest text NOT NULL, -- of the description under which it ran last
    PRIMARY KEY (tenant, user_id, bundle, server, tool)
  );

  -- The ledger.
  CREATE TABLE ${s}.usage_days (
    tenant text COLLATE "C" NOT NULL,
    day text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    bundle text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL, -- empty for actions
    model text COLLATE "C" NOT NULL,
    calls bigint NOT NULL,
    failed bigint NOT NULL,
    actions bigint NOT NULL,
    unpriced bigint NOT NULL,
    unreported bigint NOT NULL,
    usage text NOT NULL, -- JSON
    cost numeric NOT NULL,
    PRIMARY KEY (tenant, day, user_id, agent, bundle, provider, model)
  );

  CREATE TABLE ${s}.accounts (
    account text COLLATE "C" NOT NULL,
    period text COLLATE "C" NOT NULL,
    calls bigint NOT NULL,
    actions bigint NOT NULL,
    tokens bigint NOT NULL,
    money numeric NOT NULL, -- as charged to budgets
    cost numeric NOT NULL, -- as billed
    unpriced bigint NOT NULL,
    unreported bigint NOT NULL,
    PRIMARY KEY (account, period)
  );

  -- The last fact of each conversation that was counted.
  CREATE TABLE ${s}.positions (conversation text COLLATE "C" PRIMARY KEY, seq bigint NOT NULL);

  -- One row for each account that a reservation is held under.
  CREATE TABLE ${s}.reservations (
    account text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    owner text NOT NULL,
    until bigint NOT NULL,
    calls bigint NOT NULL,
    actions bigint NOT NULL,
    tokens bigint NOT NULL,
    nanos bigint NOT NULL, -- billionths of a dollar
    PRIMARY KEY (account, id)
  );
  CREATE INDEX reservations_of ON ${s}.reservations (conversation);
  CREATE INDEX reservations_over ON ${s}.reservations (until);
  `,
  (s) => `
  CREATE TABLE ${s}.notes (
    tenant text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    bundle text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    text text NOT NULL,
    words text NOT NULL, -- of the text, as they are compared, each with a space before it
    pinned boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (tenant, user_id, bundle, id)
  );
  `,
  // What is held, for the shares of tenants and users.
  (s) => `CREATE INDEX conversations_held ON ${s}.conversations (tenant, user_id) WHERE owner IS NOT NULL`,
  // How many runs have each status, kept by triggers, so that older processes beside this one keep it too. A status has many
  // rows, and a connection its own of them: of one row all who change a status would wait for each other.
  (s) => `
  CREATE TABLE ${s}.run_counts (
    status text COLLATE "C" NOT NULL,
    slot integer NOT NULL,
    count bigint NOT NULL, -- their sum is the figure; one alone may be below zero
    PRIMARY KEY (status, slot)
  ) WITH (fillfactor = 50);

  -- With the rights of its owner: whoever may write a conversation may be allowed nothing else here.
  CREATE FUNCTION ${s}.count_run() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
  BEGIN
    INSERT INTO ${s}.run_counts AS c (status, slot, count)
    SELECT v.status, pg_backend_pid() % 64, v.change
    FROM (VALUES (OLD.status, -1), (NEW.status, 1)) v (status, change) WHERE v.status IS NOT NULL
    ORDER BY v.status -- all in one order, so that no two wait for each other
    ON CONFLICT (status, slot) DO UPDATE SET count = c.count + excluded.count;
    RETURN NULL;
  END $$;
  CREATE TRIGGER conversations_counted AFTER INSERT OR DELETE ON ${s}.conversations
    FOR EACH ROW EXECUTE FUNCTION ${s}.count_run();
  CREATE TRIGGER conversations_recounted AFTER UPDATE OF status ON ${s}.conversations
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION ${s}.count_run();
  -- From here on nobody writes until all of this is there, so what is counted now is what there is.
  INSERT INTO ${s}.run_counts SELECT status, 0, count(*) FROM ${s}.conversations GROUP BY status;
  `,
  // Signs of life of processes that drive by a queue beside the log.
  (s) => `CREATE TABLE ${s}.engine_workers (id text COLLATE "C" PRIMARY KEY, beat_at bigint NOT NULL)`,
];
