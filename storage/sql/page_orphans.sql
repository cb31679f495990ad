-- A filter that is null does not filter.
SELECT o.id, o.reason, o.operation_id, o.account_id, o.actor_id, o.runner_id, o.container_name,
       o.container_attempt_id, o.expected_session_id, o.reported_session_id, o.opened_at, o.resolved_at,
       o.resolved_by, o.version
FROM orphan_diagnostics o
WHERE o.id < $1 AND ($3::boolean IS NULL OR (o.resolved_at IS NOT NULL) = $3::boolean)
ORDER BY o.id DESC LIMIT $2::bigint;
