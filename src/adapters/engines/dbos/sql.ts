import { named, now } from '../../stores/postgres/sql.ts';

/** A row of DBOS that is going to be handed out, or was. DELAYED is for later, and counts where it is soon. */
const ALIVE = `(w.status IN ('ENQUEUED', 'PENDING')
  OR w.status = 'DELAYED' AND w.delay_until_epoch_ms < ${now('NULL')} + 120000)`;

/** What DBOS leaves to whoever runs it: `s` is the schema of the log, `d` that of DBOS. Times are those of the database. */
export function keeperStatements(s: string, d: string) {
  const rows = `"${d}".workflow_status`;
  const statements = {
    beat: `INSERT INTO ${s}.engine_workers (id, beat_at) VALUES ($1, ${now('NULL')})
      ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at`,
    leave: `DELETE FROM ${s}.engine_workers WHERE id = $1`,
    // Whoever is frozen with it keeps it from the others for no longer than this.
    lock: `SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS mine,
      set_config('idle_in_transaction_session_timeout', '3000', true)`,
    // Claimed by a process that gives no sign of life, or by this one, which knows nothing of it: the claim was written,
    // and what it should have begun never was.
    left: `SELECT w.workflow_uuid AS id, w.queue_name AS queue, w.executor_id AS worker FROM ${rows} w
      WHERE w.status = 'PENDING' AND w.queue_name IS NOT NULL AND (
        w.executor_id <> $1 AND NOT EXISTS (
          SELECT 1 FROM ${s}.engine_workers e WHERE e.id = w.executor_id COLLATE "C" AND e.beat_at > ${now('NULL')} - $2::bigint)
        OR w.executor_id = $1 AND w.started_at_epoch_ms < ${now('NULL')} - $2::bigint
          AND w.workflow_uuid <> ALL ($3::text[]))
      LIMIT 1000`,
    own: `SELECT workflow_uuid AS id, queue_name AS queue, executor_id AS worker FROM ${rows}
      WHERE status = 'PENDING' AND executor_id = $1 AND queue_name IS NOT NULL`,
    // Has work that nobody holds, and no row: stated by a process that knows nothing of DBOS, or before it was there.
    missing: `SELECT c.id, c.bundle, c.epoch, t.now FROM (SELECT ${now('$1')} AS now) t, ${s}.conversations c
      WHERE (c.waiting_since IS NOT NULL AND (c.owner IS NULL OR c.until <= t.now)
          OR c.waiting_since IS NULL AND c.continue_at <= t.now)
        AND NOT EXISTS (SELECT 1 FROM ${rows} w WHERE w.queue_partition_key COLLATE "C" = c.id AND ${ALIVE})
      LIMIT 500`,
    finished: `SELECT workflow_uuid AS id FROM ${rows}
      WHERE status IN ('SUCCESS', 'ERROR', 'CANCELLED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED')
        AND completed_at < ${now('NULL')} - CASE status WHEN 'SUCCESS' THEN $1::bigint ELSE $2::bigint END
      LIMIT 2000`,
    forget: `DELETE FROM ${s}.engine_workers WHERE beat_at < ${now('NULL')} - 86400000`,
    depth: `SELECT count(*) AS queued FROM ${rows} WHERE status = 'ENQUEUED'`,
    // For how long what a dead process had claimed has been left.
    lag: `SELECT max(${now('NULL')} - e.beat_at) AS ms FROM ${s}.engine_workers e
      WHERE EXISTS (SELECT 1 FROM ${rows} w WHERE w.status = 'PENDING' AND w.executor_id COLLATE "C" = e.id)`,
  } as const;
  return named(statements, `${s}_`);
}
