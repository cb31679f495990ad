-- An orphan whose id is taken is not returned.
INSERT INTO orphan_diagnostics (id, reason, operation_id, account_id, actor_id, runner_id, container_name,
                                container_attempt_id, expected_session_id, reported_session_id, opened_at,
                                resolved_at, resolved_by, version)
SELECT q.id, q.reason, q.operation_id, q.account_id, q.actor_id, q.runner_id, q.container_name,
       q.container_attempt_id, q.expected_session_id, q.reported_session_id, q.opened_at, q.resolved_at,
       q.resolved_by, q.version
FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], $8::uuid[],
            $9::text[], $10::bytea[], $11::timestamptz[], $12::timestamptz[], $13::uuid[], $14::bigint[])
  AS q (id, reason, operation_id, account_id, actor_id, runner_id, container_name, container_attempt_id,
        expected_session_id, reported_session_id, opened_at, resolved_at, resolved_by, version)
ON CONFLICT DO NOTHING
RETURNING id;
