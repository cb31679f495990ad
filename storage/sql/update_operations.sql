-- An operation that is not as it was seen, or that is not of this account, actor, Runner, container and attempt, is not
-- returned.
UPDATE session_operations o
SET handle_digest = q.handle_digest, journal_id = q.journal_id, state = q.state, dispatch = q.dispatch,
    reconciling = q.reconciling, failure_class = q.failure_class, failure_code = q.failure_code,
    session_id = q.session_id, cleanup = q.cleanup, cleanup_deadline = q.cleanup_deadline,
    dispatched_at = q.dispatched_at, finished_at = q.finished_at, version = q.version
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::uuid[], $7::bytea[], $8::uuid[],
            $9::text[], $10::bigint[], $11::boolean[], $12::text[], $13::text[], $14::text[], $15::text[],
            $16::timestamptz[], $17::timestamptz[], $18::timestamptz[], $19::bigint[])
  AS q (id, account_id, actor_id, runner_id, container_name, container_attempt_id, handle_digest, journal_id, state,
        dispatch, reconciling, failure_class, failure_code, session_id, cleanup, cleanup_deadline, dispatched_at,
        finished_at, version)
WHERE o.id = q.id AND o.version = q.version - 1 AND o.account_id = q.account_id AND o.actor_id = q.actor_id
  AND o.runner_id = q.runner_id AND o.container_name = q.container_name
  AND o.container_attempt_id = q.container_attempt_id
RETURNING o.id;
